import type { FieldError } from '../problem.ts';
import { isImmutable, isReadOnly, type Resource, type StoredRecord } from '../schemas/resource.ts';
import { escapePointer } from './explain.ts';

export type JsonObject = Record<string, unknown>;

/**
 * Lays a change over what a client may set of a record, as RFC 7396 says: null clears, objects
 * merge, everything else replaces. A cleared field is left out, so that its default comes in.
 * `custom_fields` are not merged here, because their definitions decide about them.
 */
export function mergeChange(
	resource: Resource,
	stored: StoredRecord | undefined,
	change: JsonObject,
): JsonObject {
	const merged = new Map<string, unknown>();
	for (const field of Object.keys(resource.input.shape)) {
		const value = Object.hasOwn(change, field)
			? mergeValue(stored?.[field], change[field])
			: stored?.[field];
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
export function refusedFields(
	resource: Resource,
	stored: StoredRecord | undefined,
	change: JsonObject,
): FieldError[] {
	return Object.entries(change).flatMap(([field, value]) => {
		const refuse = (code: string, detail: string) => [
			{ pointer: `/${escapePointer(field)}`, code, detail },
		];
		if (!Object.hasOwn(resource.properties, field)) {
			return refuse('unknown_field', `There is no field "${field}".`);
		}
		if (isReadOnly(resource, field)) {
			return refuse('read_only', `${field} is set by the service.`);
		}
		if (stored && isImmutable(resource, field) && value !== stored[field]) {
			return refuse('immutable', `${field} cannot be changed any more.`);
		}
		return [];
	});
}

export const isObject = (value: unknown): value is JsonObject =>
	typeof value === 'object' && value !== null && !Array.isArray(value);

/** Whether a field's value is an id, or a list of ids, of another resource's records. */
export const referencedResource = (resource: Resource, field: string): string | undefined =>
	resource.properties[field]?.['x-resource'] as string | undefined;
