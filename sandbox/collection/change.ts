import { type FieldError, Problem } from '../problem.ts';
import { hasCustomFields, type Resource, type StoredRecord } from '../schemas/resource.ts';
import { quoted } from '../store/columns.ts';
import type { Store } from '../store/store.ts';
import { duplicate, mergeCustomValues, refuseDuplicateCustomValues } from './custom-values.ts';
import { fieldErrors } from './explain.ts';
import {
	isObject,
	type JsonObject,
	mergeChange,
	referencedResource,
	refusedFields,
} from './merge.ts';
import { ruleContext } from './rules.ts';
import { refuseIllegalMove } from './states.ts';
import type { Writing } from './writing.ts';

/** The part of a record that a client decides about, directly or through rules. */
export type Values = Record<string, unknown>;

/**
 * What a record's values are after a change, if the change is valid.
 *
 * @param stored the record to change; undefined for a new one
 * @param byService whether the service itself makes the change, and may set every field
 * @throws Problem validation_failed with everything that is wrong, invalid_state_transition
 */
export function changedValues(
	writing: Writing,
	stored: StoredRecord | undefined,
	change: JsonObject,
	byService = false,
): Values {
	const { store, resource } = writing;
	const errors = byService ? [] : refusedFields(resource, stored, change);
	const merged = mergeChange(resource, stored, change);
	if (hasCustomFields(resource)) {
		const custom = customChange(stored, change);
		if (isObject(custom)) {
			const result = mergeCustomValues(store, resource, stored, custom);
			merged['custom_fields'] = result.values;
			errors.push(...result.errors);
		}
	}
	const parsed = resource.input.safeParse(merged);
	if (!parsed.success) errors.push(...fieldErrors(parsed.error, merged));
	errors.push(...missingReferences(store, resource, merged, change));
	if (parsed.success && errors.length === 0) {
		const known = { ...stored, ...(byService && change), ...parsed.data };
		const context = ruleContext(writing);
		const values = { ...known, ...resource.complete?.(known, stored, context) };
		refuseIllegalMove(resource, stored, values);
		errors.push(...(resource.check?.(values, stored, context) ?? []));
		if (errors.length === 0) return values;
	}
	throw new Problem('validation_failed', sentence(errors), { errors });
}

/**
 * Refuses a record that shares a unique value with another one, whoever may see that one.
 *
 * @throws Problem duplicate
 */
export function refuseDuplicates(
	store: Store,
	resource: Resource,
	record: StoredRecord,
	change: JsonObject,
): void {
	for (const fields of Object.values(resource.unique)) {
		if (!areGiven(fields, record)) continue;
		const values = Object.fromEntries(fields.map((field) => [field, record[field] as string]));
		const other = store.whole.table(resource.name)!.findOther(values, record.id);
		if (other === undefined) continue;
		const seen = store.table(resource.name)!.find(other);
		throw duplicate(`/${fields.at(-1)}`, fields.join(' and '), seen);
	}
	const custom = customChange(record, change);
	if (isObject(custom)) refuseDuplicateCustomValues(store, resource, record, custom);
}

/** Live records that have the same, present, values in these fields. */
export function findByFields(
	store: Store,
	resource: Resource,
	fields: string[],
	values: Values,
): StoredRecord[] {
	if (!areGiven(fields, values)) return [];
	const conditions = fields.map((field) => ({
		sql: `${quoted(field)} = ?`,
		values: [values[field] as string],
	}));
	return store.table(resource.name)!.findAll(conditions, 2);
}

const areGiven = (fields: string[], values: Values): boolean =>
	fields.every((field) => values[field] != null && values[field] !== '');

/** Null for all custom fields is null for each of them. */
function customChange(stored: StoredRecord | undefined, change: JsonObject): unknown {
	const custom = change['custom_fields'] ?? {};
	if (change['custom_fields'] !== null) return custom;
	const keys = Object.keys((stored?.['custom_fields'] as JsonObject) ?? {});
	return Object.fromEntries(keys.map((key) => [key, null]));
}

/** Ids are checked where the service has the resource; ids of others are taken as they are. */
function missingReferences(
	store: Store,
	resource: Resource,
	merged: JsonObject,
	change: JsonObject,
): FieldError[] {
	return Object.keys(change).flatMap((field) => {
		const target = referencedResource(resource, field);
		const table = target === undefined ? undefined : store.table(target);
		const value = merged[field];
		const ids = Array.isArray(value) ? value : [value];
		const missing = ids.some((id) => typeof id === 'string' && table && !table.find(id));
		if (!missing) return [];
		return [
			{
				pointer: `/${field}`,
				code: 'reference_not_found',
				detail: `${field} names no record in ${target}.`,
			},
		];
	});
}

function sentence(errors: FieldError[]): string {
	const first = errors[0]!;
	const place = 'pointer' in first ? first.pointer.slice(1).replaceAll('/', '.') : first.parameter;
	const others = errors.length - 1;
	const more = others > 0 ? ` (${others} more ${others === 1 ? 'error' : 'errors'})` : '';
	return `${place ? `${place}: ` : ''}${first.detail}${more}`;
}
