import { type FieldError, maxErrors, Problem, validationFailed } from '../../core/foundation/problem.ts';
import {
	hasCustomFields,
	type Resource,
	type StoredRecord,
	isImmutable,
	isReadOnly,
	type RuleContext,
} from '../../core/schemas/resource.ts';
import { equals, isIn } from '../../core/store/records/condition.ts';
import type { StoreView } from '../../core/store/visibility/visible-store.ts';
import { duplicateProblem, mergeCustomValues } from './custom-values.ts';
import { fieldErrors, unknownField } from '../../core/foundation/field-errors.ts';
import { isObject, type JsonObject } from '../../core/foundation/json.ts';
import type { WriteContext } from '../../core/store/write-context.ts';
import { entriesName } from '../../core/store/records/table-definition.ts';

export type Author = 'client' | 'service';

/**
 * Validates a change and returns the resulting values of the record.
 *
 * @param stored the record to change; undefined for a new one
 * @param author the service may set every field
 * @throws Problem validation_failed with every error, invalid_state_transition
 */
export function changedValues(
	context: WriteContext,
	stored: StoredRecord | undefined,
	change: JsonObject,
	author: Author,
): JsonObject {
	const { store, resource } = context;
	const byService = author === 'service';
	const errors = byService ? [] : refusedFields(resource, stored, change);
	const merged = mergePatch(resource, stored, change);
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
		const parsedValues = { ...stored, ...(byService && change), ...parsed.data };
		const rules = ruleContext(context);
		const values = { ...parsedValues, ...resource.complete?.(parsedValues, stored, rules) };
		refuseIllegalTransition(resource, stored, values);
		errors.push(...(resource.check?.(values, stored, rules) ?? []));
		if (errors.length === 0) return values;
	}
	throw validationFailed(errors, summaryOf(errors));
}

/**
 * The problem of a record that shares a unique value with another record, even one the caller cannot
 * see; undefined if there is no such record.
 */
export function duplicateOf(store: StoreView, resource: Resource, record: StoredRecord): Problem | undefined {
	for (const fields of Object.values(resource.unique)) {
		if (!haveValues(fields, record)) continue;
		const values = Object.fromEntries(fields.map((field) => [field, record[field] as string]));
		const other = store.unrestricted.table(resource.name)!.findOther(values, record.id);
		if (other === undefined) continue;
		const visibleRecord = store.table(resource.name)!.find(other);
		return duplicateProblem(`/${fields.at(-1)}`, fields.join(' and '), visibleRecord);
	}
	return undefined;
}

/** Finds live records by the values of these fields; none if a value is absent. */
export function findByFields(store: StoreView, resource: Resource, fields: string[], values: JsonObject): StoredRecord[] {
	if (!haveValues(fields, values)) return [];
	const conditions = fields.map((field) => equals(field, values[field] as string));
	return store.table(resource.name)!.findAll(conditions, 2);
}

const haveValues = (fields: string[], values: JsonObject): boolean =>
	fields.every((field) => values[field] != null && values[field] !== '');

/** Expands null for `custom_fields` to null for each custom field. */
function customChange(stored: StoredRecord | undefined, change: JsonObject): unknown {
	const custom = change['custom_fields'] ?? {};
	if (change['custom_fields'] !== null) return custom;
	const keys = Object.keys((stored?.['custom_fields'] as JsonObject) ?? {});
	return Object.fromEntries(keys.map((key) => [key, null]));
}

/** Reports references to missing records. References to unknown resources are not checked. */
function missingReferences(store: StoreView, resource: Resource, merged: JsonObject, change: JsonObject): FieldError[] {
	return Object.keys(change).flatMap((field) => {
		const target = referencedResource(resource, field);
		const table = target === undefined ? undefined : store.table(target);
		const value = merged[field];
		const ids = Array.isArray(value) ? value : [value];
		const missing: unknown = ids.find((id) => typeof id === 'string' && table && !table.find(id));
		if (missing === undefined) return [];
		return [{ pointer: `/${field}`, code: 'reference_not_found', detail: `no record of ${target} has the ID “${String(missing)}”` }];
	});
}

function summaryOf(errors: FieldError[]): string {
	const first = errors[0]!;
	const place = 'pointer' in first ? first.pointer.slice(1).replaceAll('/', '.') : first.parameter;
	const others = errors.length - 1;
	const isCut = errors.length >= maxErrors;
	const more = isCut ? ' (and more errors)' : others > 0 ? ` (${others} more ${others === 1 ? 'error' : 'errors'})` : '';
	return `${place ? `${place}: ` : ''}${first.detail}${more}`;
}

/**
 * Refuses a transition that the resource does not allow. A new record may start in any state, so
 * that records can be imported from another system unchanged.
 *
 * @throws Problem invalid_state_transition
 */
function refuseIllegalTransition({ states, object }: Resource, stored: StoredRecord | undefined, values: JsonObject): void {
	if (!states || !stored) return;
	const from = String(stored[states.field]);
	const to = String(values[states.field]);
	const allowed = states.transitions[from] ?? [];
	if (from === to || allowed.includes(to)) return;
	const hint = allowed.length > 0 ? `It can become: ${allowed.join(', ')}.` : 'This state is final.';
	throw new Problem(
		'invalid_state_transition',
		`A ${object.replaceAll('_', ' ')} that is ${from} cannot become ${to}. ${hint}`,
		{ members: { from, to, allowed } },
	);
}

/**
 * Applies a JSON Merge Patch (RFC 7396) to the fields that a client may set: null clears a field,
 * objects merge, all other values replace. A cleared field is omitted, so that its default applies.
 * `custom_fields` are merged by `mergeCustomValues`, because they depend on their definitions.
 */
function mergePatch(resource: Resource, stored: StoredRecord | undefined, change: JsonObject): JsonObject {
	const merged = new Map<string, unknown>();
	for (const field of Object.keys(resource.input.shape)) {
		const value = Object.hasOwn(change, field) ? mergeValue(stored?.[field], change[field]) : stored?.[field];
		if (value !== null && value !== undefined) merged.set(field, value);
	}
	return Object.fromEntries(merged);
}

/** Nested objects are one level deep, so deeper ones need no merging; the schema refuses them. */
function mergeValue(stored: unknown, value: unknown): unknown {
	if (!isObject(value)) return value;
	const members = new Map(Object.entries(isObject(stored) ? stored : {}));
	for (const [name, member] of Object.entries(value)) members.set(name, member);
	return Object.fromEntries(members);
}

/** The fields of a change that a client may not set, each with the reason. */
function refusedFields(resource: Resource, stored: StoredRecord | undefined, change: JsonObject): FieldError[] {
	return Object.entries(change).flatMap(([field, value]) => {
		const refuse = (code: string, detail: string) => [{ pointer: `/${field}`, code, detail }];
		if (!Object.hasOwn(resource.properties, field)) {
			return [unknownField('', field)];
		}
		if (isReadOnly(resource, field)) {
			return refuse('read_only', `${field} is set by the service.`);
		}
		if (stored && isImmutable(resource, field) && value !== stored[field]) {
			return refuse('immutable', `${field} cannot be changed after creation.`);
		}
		return [];
	});
}

/** The resource whose ids are the value of a field; undefined if the field holds no ids. */
const referencedResource = (resource: Resource, field: string): string | undefined =>
	resource.properties[field]?.['x-resource'] as string | undefined;

/** The context that a resource's rules receive during a write. */
export const ruleContext = ({ store, actor, now, newId }: WriteContext): RuleContext => ({
	actor,
	at: new Date(now).toISOString(),
	newId: (prefix) => newId(prefix, now),
	find: (resource, id) => store.table(resource)?.find(id),
	count: (resource) => store.unrestricted.table(resource)?.count([]) ?? 0,
	next: (resource, field) => (store.unrestricted.table(resource)?.highest(field) ?? 0) + 1,
	findBy(resource, field, value, limit) {
		const cell = typeof value === 'boolean' ? Number(value) : value;
		return store.unrestricted.table(resource)?.findAll([equals(field, cell)], limit) ?? [];
	},
	findByEntry(resource, entries) {
		const table = store.unrestricted.table(resource)!;
		const { sql, values } = isIn('value', JSON.stringify(entries));
		return table.findAll([{ sql: `id IN (SELECT id FROM ${entriesName(table.resource)} WHERE ${sql})`, values }], 2);
	},
});
