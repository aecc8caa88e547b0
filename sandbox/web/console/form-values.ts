import { isObject, type JsonObject, valueAt } from '../../core/foundation/json.ts';
import { type JsonSchema, typesOf } from '../../core/schemas/json-schema.ts';
import type { StoredRecord } from '../../core/schemas/resource.ts';
import type { FormField } from './form-fields.ts';
import { isEmptyValue } from './values.ts';

/** Whether values of a field are lists or objects, which forms show as JSON. */
export const isJson = (schema: JsonSchema): boolean => ['array', 'object'].some((type) => typesOf(schema).includes(type));

/** The inputs of a form with these values: their names and texts. */
export const formTexts = (fields: FormField[], values: Record<string, unknown>): URLSearchParams =>
	new URLSearchParams(fields.map(({ name, schema }): [string, string] => [name, textOf(schema, valueAt(values, name.split('.')))]));

function textOf(schema: JsonSchema, value: unknown): string {
	if (isEmptyValue(value)) return '';
	if (typeof value === 'object') return JSON.stringify(value, null, 2);
	const text = withLineFeeds(String(value));
	// Formatted as a local time, without zeros at the end; all times in forms are UTC.
	return schema.format === 'date-time' ? text.replace(/(:00)?\.000Z$|Z$/, '') : text;
}

/**
 * The request body for a form: only the fields whose inputs were changed, so that values that a form
 * cannot show exactly, such as the seconds of a time, do not change.
 *
 * @param initialTexts the inputs as they were when the form was opened
 */
export function changeOf(fields: FormField[], initialTexts: URLSearchParams, submittedTexts: URLSearchParams): JsonObject {
	const change: JsonObject = {};
	for (const { name, schema } of fields) {
		const text = submittedTexts.get(name);
		if (text === null) continue;
		const value = valueOf(schema, text);
		if (JSON.stringify(value) === JSON.stringify(valueOf(schema, initialTexts.get(name) ?? ''))) continue;
		// The only nested inputs are those of custom fields.
		const [field = '', key] = name.split('.');
		change[field] = key === undefined ? value : { ...(isObject(change[field]) && change[field]), [key]: value };
	}
	return change;
}

/** Browsers send line breaks as CR LF. */
const withLineFeeds = (text: string): string => text.replaceAll(/\r\n?/g, '\n');

/** Text that cannot be converted is passed on unchanged, so that validation reports it. */
function valueOf(schema: JsonSchema, input: string): unknown {
	const text = withLineFeeds(input);
	const types = typesOf(schema);
	if (text === '') return null;
	if (isJson(schema)) return parsed(text);
	if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
	if (types.includes('number') || types.includes('integer')) {
		return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);
	}
	if (schema.format === 'date-time') {
		const time = Date.parse(`${text}Z`);
		return Number.isNaN(time) ? text : new Date(time).toISOString();
	}
	return text;
}

function parsed(text: string): unknown {
	try {
		return JSON.parse(text);
	} catch {
		return text;
	}
}

/**
 * The initial inputs of a form: those of the record, or for a new record the parameters of the form's
 * address, such as `/records/deals/new?title=Pilot`.
 */
export function initialFormTexts(fields: FormField[], stored: StoredRecord | undefined, query: URLSearchParams): URLSearchParams {
	const texts = formTexts(fields, stored ?? {});
	for (const { name, schema } of stored ? [] : fields) {
		const text = query.get(name);
		if (text !== null) texts.set(name, isJson(schema) ? text : textOf(schema, text));
	}
	return texts;
}
