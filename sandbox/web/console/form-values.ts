import { isObject, type JsonObject, memberNamed } from '../../core/foundation/json.ts';
import { FormTexts } from '../pages/form-texts.ts';
import { type JsonSchema, typesOf } from '../../core/schemas/json-schema.ts';
import type { StoredRecord } from '../../core/schemas/resource.ts';
import type { FormField } from './form-fields.ts';

/** Whether a list's items are objects, which a form shows as rows of inputs. */
export const hasRows = ({ items }: JsonSchema): boolean => items?.properties !== undefined;

/** Number of rows that a new list shows. Each edit adds an empty row. */
export const firstRows = 3;

/** The inputs of a form with these values: their names and texts. */
export const formTexts = (fields: FormField[], values: Record<string, unknown>): FormTexts =>
	new FormTexts(fields.flatMap(({ name, schema }) => textsOf(schema, name, memberNamed(values, name))));

function textsOf(schema: JsonSchema, name: string, value: unknown): Array<[string, string]> {
	if (schema.properties) {
		const members = isObject(value) ? value : {};
		return Object.entries(schema.properties).flatMap(([member, memberSchema]) =>
			textsOf(memberSchema, `${name}.${member}`, memberNamed(members, member)),
		);
	}
	if (!typesOf(schema).includes('array')) return [[name, textOf(schema, value)]];
	const items = Array.isArray(value) ? (value as unknown[]) : [];
	if (hasRows(schema)) {
		const empty = Math.max(1, firstRows - items.length);
		const all = [...items, ...Array.from({ length: empty }, () => undefined)];
		return all.flatMap((item, i) => textsOf(schema.items!, `${name}.${i}`, item));
	}
	// The empty input shows that the form has the field even if nothing is ticked.
	if (schema.items?.enum) return [[name, ''], ...items.map((item): [string, string] => [name, String(item)])];
	return [[name, items.map((item) => textOf(schema, item)).join('\n')]];
}

/** The text of an input; a suggested record is shown as its name, followed by its id. */
function textOf(schema: JsonSchema, value: unknown): string {
	if (value === null || value === undefined) return '';
	const text = withLineFeeds(String(value));
	// Formatted as a local time, without zeros at the end; all times in forms are UTC.
	if (schema.format === 'date-time') return text.replace(/(:00)?\.000Z$|Z$/, '');
	const suggested = memberNamed(schema['x-suggestions'] as Record<string, string> | undefined, text);
	return suggested === undefined ? text : `${suggested} (${text})`;
}

/**
 * The request body for a form: only the fields whose inputs were changed, so that values that a form
 * cannot show exactly, such as the seconds of a time, do not change.
 *
 * @param initialTexts the inputs as they were when the form was opened
 */
export function changeOf(fields: FormField[], initialTexts: FormTexts, submittedTexts: FormTexts): JsonObject {
	const change = fields.map(({ name, schema }) => [name, changedValue(schema, name, initialTexts, submittedTexts)]);
	return Object.fromEntries(change.filter(([, value]) => value !== undefined)) as JsonObject;
}

function changedValue(schema: JsonSchema, name: string, initialTexts: FormTexts, submittedTexts: FormTexts): unknown {
	if (schema.properties) {
		const members = Object.entries(schema.properties)
			.map(([member, memberSchema]) => [member, changedValue(memberSchema, `${name}.${member}`, initialTexts, submittedTexts)] as const)
			.filter(([, value]) => value !== undefined);
		return members.length > 0 ? Object.fromEntries(members) : undefined;
	}
	const value = valueIn(schema, name, submittedTexts);
	const before = valueIn(schema, name, initialTexts);
	return JSON.stringify(value) === JSON.stringify(before) ? undefined : value;
}

/** The value of the inputs of a field; undefined if the form does not have them. */
function valueIn(schema: JsonSchema, name: string, form: FormTexts): unknown {
	if (!typesOf(schema).includes('array')) {
		const text = form.get(name);
		return text === null ? undefined : valueOf(schema, text);
	}
	if (hasRows(schema)) return rowsIn(schema, name, form);
	const texts = form.getAll(name);
	if (texts.length === 0) return undefined;
	const lines = schema.items?.enum ? texts : texts.flatMap((text) => text.split('\n'));
	return lines.map((line) => valueOf({ ...schema, type: 'string' }, line.trim())).filter((item) => item !== null);
}

/** The rows of a list; empty rows are skipped. If there are too many, one more than the list allows is read. */
function rowsIn({ items, maxItems }: JsonSchema, name: string, form: FormTexts): unknown {
	const indexes = form.rowsOf(name);
	if (indexes.length === 0) return undefined;
	const rows: JsonObject[] = [];
	for (const i of indexes) {
		const members = Object.entries(items!.properties!)
			.map(([member, memberSchema]) => [member, valueIn(memberSchema, `${name}.${i}.${member}`, form)] as const)
			.filter(([, value]) => value !== null && value !== undefined);
		if (members.length > 0) rows.push(Object.fromEntries(members));
		if (rows.length > Number(maxItems)) break;
	}
	return rows;
}

/** Browsers send line breaks as CR LF. */
const withLineFeeds = (text: string): string => text.replaceAll(/\r\n?/g, '\n');

/** Text that cannot be converted is passed on unchanged, so that validation reports it. */
function valueOf(schema: JsonSchema, input: string): unknown {
	const text = withLineFeeds(input);
	const types = typesOf(schema);
	if (text === '') return null;
	if (types.includes('boolean') && (text === 'true' || text === 'false')) return text === 'true';
	if (types.includes('number') || types.includes('integer')) {
		return text.trim() === '' || Number.isNaN(Number(text)) ? text : Number(text);
	}
	if (schema.format === 'date-time') {
		const time = Date.parse(`${text}Z`);
		return Number.isNaN(time) ? text : new Date(time).toISOString();
	}
	if ('x-suggestions' in schema) return idIn(schema['x-suggestions'] as Record<string, string>, text.trim());
	return text;
}

/** The id that follows a suggested name, or the id of the only record with the typed name. */
function idIn(suggestions: Record<string, string>, text: string): string {
	const id = /\((\w+)\)$/.exec(text)?.[1];
	if (id !== undefined) return id;
	const named = Object.entries(suggestions).filter(([, title]) => title.toLowerCase() === text.toLowerCase());
	return named.length === 1 ? named[0]![0] : text;
}

/**
 * The initial inputs of a form: those of the record, or for a new record the parameters of the form's
 * address, such as `/records/notes/new?links.0.resource=contacts&links.0.id=con_0`.
 */
export function initialFormTexts(fields: FormField[], stored: StoredRecord | undefined, query: URLSearchParams): FormTexts {
	const texts = formTexts(fields, stored ?? Object.fromEntries(query));
	if (stored) return texts;
	for (const [name, text] of query) if (name.includes('.') && texts.has(name)) texts.set(name, text);
	return texts;
}
