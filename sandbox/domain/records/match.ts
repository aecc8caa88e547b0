import { z } from 'zod/v4';
import { invalidParameter, Problem, validationFailed } from '../../core/foundation/problem.ts';
import { hasCustomFields, type Resource, type StoredRecord } from '../../core/schemas/resource.ts';
import type { StoreView } from '../../core/store/visibility/visible-store.ts';
import { findByFields } from './change.ts';
import { customFieldsOf } from '../../core/store/records/custom-fields-of.ts';
import { customFieldType } from '../../core/schemas/custom-field-type.ts';
import { findByCustomField } from './custom-values.ts';
import { isObject, type JsonObject, memberNamed } from '../../core/foundation/json.ts';

/**
 * Finds the record that an upsert matches: the one with the body's value of a unique field.
 *
 * @param matchOn a unique field, or `custom_fields.<key>` of a unique custom field
 * @returns undefined if no record matches
 * @throws Problem invalid_parameter, validation_failed (no value to match on), ambiguous_match
 */
export function findMatch(store: StoreView, resource: Resource, matchOn: string, body: JsonObject): StoredRecord | undefined {
	requireUniqueMatchOn(store, resource, matchOn);
	const matches = Object.hasOwn(resource.unique, matchOn)
		? matchFields(store, resource, resource.unique[matchOn]!, body)
		: matchCustomField(store, resource, matchOn, body);
	if (matches.length < 2) return matches[0];
	throw new Problem(
		'ambiguous_match',
		`More than one record of ${resource.name} has this ${matchOn}.`,
	);
}

/** The query of every upsert. Unique custom fields match as well; they differ by account. */
export function matchOnQuery(resource: Resource) {
	const uniqueField = z.enum(Object.keys(resource.unique));
	const custom = z.string().startsWith('custom_fields.').meta({ pattern: '^custom_fields\\.' });
	const description = 'The unique field to match on; its value is in the body.';
	return z.object({
		match_on: hasCustomFields(resource)
			? z.union([uniqueField, custom], refusal(resource)).meta({ description, 'x-custom-fields': 'custom_fields.{key}' })
			: uniqueField.meta({ description }),
	});
}

/** @throws Problem invalid_parameter if several records may have the same value of the field */
export function requireUniqueMatchOn(store: StoreView, resource: Resource, matchOn: string): void {
	if (Object.hasOwn(resource.unique, matchOn)) return;
	if (uniqueCustomField(store, resource, matchOn)) return;
	throw invalidParameter('match_on', refusal(resource));
}

const refusal = ({ unique }: Resource): string => `match_on must be a unique field: ${Object.keys(unique).join(', ')}.`;

function matchFields(store: StoreView, resource: Resource, fields: string[], body: JsonObject) {
	const values = fields.map((field) => [field, requireValue(field, resource.fields[field]!.safeParse(body[field]))]);
	return findByFields(store, resource, fields, Object.fromEntries(values) as JsonObject);
}

function matchCustomField(store: StoreView, resource: Resource, matchOn: string, body: JsonObject) {
	const field = uniqueCustomField(store, resource, matchOn)!;
	const values = isObject(body['custom_fields']) ? body['custom_fields'] : {};
	const value = requireValue(matchOn, customFieldType(field).safeParse(memberNamed(values, field.key)));
	return findByCustomField(store, resource, field.key, value);
}

function uniqueCustomField(store: StoreView, resource: Resource, matchOn: string) {
	const key = /^custom_fields\.(\w+)$/.exec(matchOn)?.[1];
	const field = key === undefined ? undefined : customFieldsOf(store, resource.name).get(key);
	return field?.unique ? field : undefined;
}

function requireValue(field: string, parsed: { success: boolean; data?: unknown }): unknown {
	if (parsed.success && parsed.data != null && parsed.data !== '') return parsed.data;
	const detail = `The body needs a valid ${field} to match on.`;
	throw validationFailed([{ pointer: `/${field.replace('.', '/')}`, code: 'required', detail }]);
}
