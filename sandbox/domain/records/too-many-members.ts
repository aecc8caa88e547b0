import { unknownField } from '../../core/foundation/field-errors.ts';
import { isObject, type JsonObject, memberNamed } from '../../core/foundation/json.ts';
import { type FieldError, maxErrors } from '../../core/foundation/problem.ts';
import type { JsonSchema } from '../../core/schemas/json-schema.ts';
import { maxCustomFields } from '../../core/schemas/custom-fields.ts';

/**
 * The errors of the first place that has far more members than its schema allows. Validation looks at
 * every member, which would take long with thousands of them.
 *
 * @param properties of the object, by name
 */
export function tooManyMembersIn(
	value: JsonObject,
	properties: Record<string, JsonSchema>,
	pointer = '',
): FieldError[] {
	const unknown = Object.keys(value).filter((name) => !Object.hasOwn(properties, name));
	if (unknown.length > maxErrors) return unknown.slice(0, maxErrors).map((name) => unknownField(pointer, name));
	for (const [name, member] of Object.entries(value)) {
		const schema = memberNamed(properties, name);
		const errors = schema ? tooManyMembersOf(member, schema, `${pointer}/${name}`) : [];
		if (errors.length > 0) return errors;
	}
	return [];
}

function tooManyMembersOf(value: unknown, schema: JsonSchema, pointer: string): FieldError[] {
	const { maxItems, items, properties } = schema as {
		maxItems?: number;
		items?: JsonSchema;
		properties?: Record<string, JsonSchema>;
	};
	if (Array.isArray(value)) {
		if (maxItems !== undefined && value.length > maxItems) {
			return [{ pointer, code: 'too_long', detail: `It must not be longer than ${maxItems}.` }];
		}
		for (const [i, item] of items ? value.entries() : []) {
			const errors = tooManyMembersOf(item, items!, `${pointer}/${i}`);
			if (errors.length > 0) return errors;
		}
	} else if (isObject(value) && properties) {
		return tooManyMembersIn(value, properties, pointer);
	} else if (isObject(value) && Object.keys(value).length > maxCustomFields) {
		return [{ pointer, code: 'too_long', detail: `It must not have more than ${maxCustomFields} members.` }];
	}
	return [];
}
