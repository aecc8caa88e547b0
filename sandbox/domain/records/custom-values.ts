import { type FieldError, maxErrors, Problem } from '../../core/foundation/problem.ts';
import type { Resource, StoredRecord } from '../../core/schemas/resource.ts';
import { users } from '../../core/schemas/users.ts';
import type { StoreView } from '../../core/store/visibility/visible-store.ts';
import type { Cell } from '../../core/store/records/columns.ts';
import { customFieldsOf } from '../../core/store/records/custom-fields-of.ts';
import { customFieldType } from '../../core/schemas/custom-field-type.ts';
import { isObject, type JsonObject, memberNamed } from '../../core/foundation/json.ts';
import { escapePointer, explainIssue } from '../../core/foundation/field-errors.ts';

/**
 * Merges custom values into those of a record; null clears a value. Only changed values are validated,
 * so that a definition that became stricter does not block other changes.
 *
 * @returns the merged values and the errors of the change
 */
export function mergeCustomValues(
	store: StoreView,
	resource: Resource,
	stored: StoredRecord | undefined,
	change: JsonObject,
): { values: JsonObject; errors: FieldError[] } {
	const before = (stored?.['custom_fields'] as JsonObject) ?? {};
	// Most changes include no custom values; then the definitions are not read.
	if (stored && Object.keys(change).length === 0) return { values: before, errors: [] };
	const fields = customFieldsOf(store, resource.name);
	const values = new Map(Object.entries(before));
	const errors: FieldError[] = [];
	const refuse = (key: string, code: string, detail: string) =>
		errors.push({ pointer: `/custom_fields/${escapePointer(key)}`, code, detail });

	for (const [key, value] of Object.entries(change)) {
		if (errors.length > maxErrors) break;
		const field = fields.get(key);
		if (field?.read_only) {
			refuse(key, 'read_only', `${field.label} is read-only.`);
		} else if (value === null && (field || values.has(key))) {
			values.delete(key);
		} else if (!field) {
			refuse(key, 'unknown_field', `${resource.name} have no custom field "${key}".`);
		} else if (field.archived_at !== null) {
			refuse(key, 'archived', `${field.label} is archived and accepts no values.`);
		} else {
			const parsed = customFieldType(field).safeParse(value);
			if (parsed.success) values.set(key, parsed.data);
			else refuse(key, 'invalid_value', explainIssue(parsed.error.issues[0]!));
			const target = field.type === 'user' ? users.name : field.reference_resource;
			if (parsed.success && target !== null && !store.table(target)?.find(value as string)) {
				refuse(key, 'reference_not_found', `There is no such record in ${target}.`);
			}
		}
	}
	for (const field of fields.values()) {
		const isTouched = !stored || Object.hasOwn(change, field.key);
		const isDue = field.required && field.archived_at === null && isTouched;
		if (isDue && !values.has(field.key) && memberNamed(change, field.key) == null) {
			refuse(field.key, 'required', `${field.label} is required.`);
		}
	}
	return { values: Object.fromEntries(values), errors };
}

/**
 * Refuses a change that gives two records the same value of a unique custom field.
 *
 * @param change of the custom fields
 * @throws Problem duplicate
 */
export function refuseDuplicateCustomValues(store: StoreView, resource: Resource, record: StoredRecord, change: unknown): void {
	if (!isObject(change) || Object.keys(change).length === 0) return;
	for (const field of customFieldsOf(store, resource.name).values()) {
		const value = memberNamed(record['custom_fields'] as JsonObject, field.key);
		if (!field.unique || value === undefined || !Object.hasOwn(change, field.key)) continue;
		const other = findByCustomField(store.unrestricted, resource, field.key, value).find(({ id }) => id !== record.id);
		if (!other) continue;
		const visibleRecord = store.table(resource.name)!.find(other.id);
		throw duplicateProblem(`/custom_fields/${field.key}`, field.label, visibleRecord);
	}
}

/** Finds at most two live records: enough to distinguish none, one and several. */
export function findByCustomField(store: StoreView, resource: Resource, key: string, value: unknown): StoredRecord[] {
	return store.table(resource.name)!.findByCustomField(key, value as Cell, 2);
}

/** @param other the record with the value, if the caller can see it */
export function duplicateProblem(pointer: string, label: string, other: StoredRecord | undefined): Problem {
	const holder = other?.id ?? 'a record you cannot see';
	const detail = `${label} must be unique, and ${holder} already has this value.`;
	return new Problem('duplicate', detail, {
		errors: [{ pointer, code: 'duplicate', detail }],
		...(other && { members: { existing_id: other.id } }),
	});
}
