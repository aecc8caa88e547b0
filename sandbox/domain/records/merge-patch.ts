import type { FieldError } from '../../core/foundation/problem.ts';
import { isImmutable, isReadOnly, type Resource, type StoredRecord } from '../../core/schemas/resource.ts';
import { isObject, type JsonObject } from '../../core/foundation/json.ts';
import { unknownField } from '../../core/foundation/field-errors.ts';

/**
 * Applies a JSON Merge Patch (RFC 7396) to the fields that a client may set: null clears a field,
 * objects merge, all other values replace. A cleared field is omitted, so that its default applies.
 * `custom_fields` are merged by `mergeCustomValues`, because they depend on their definitions.
 */
export function mergePatch(resource: Resource, stored: StoredRecord | undefined, change: JsonObject): JsonObject {
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
export function refusedFields(resource: Resource, stored: StoredRecord | undefined, change: JsonObject): FieldError[] {
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
export const referencedResource = (resource: Resource, field: string): string | undefined =>
	resource.properties[field]?.['x-resource'] as string | undefined;
