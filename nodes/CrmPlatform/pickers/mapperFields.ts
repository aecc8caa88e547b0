import {
	isExpression,
	validateFieldType,
	type ILoadOptionsFunctions,
	type INodePropertyOptions,
	type ResourceMapperField,
	type ResourceMapperFields,
} from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { isToolCall } from '../api/toolNode';
import { allCustomFields, fieldNamed, isRequiredInForm, labelFor, type Field } from '../fields/field';
import { fieldKinds, isBooleanField, valueShape } from '../fields/fieldKinds';
import type { MatchDescription } from '../api/openapi/writing';
import { customFieldsOf, NothingToOffer, beforeCredential, editorContext, type EditorContext } from './editorContext';
import { choiceOptions, linkOptionsOf } from './fieldChoices';
import { nameFieldsToMatchOn } from '../writing/matchOn';

/** The fields the chosen operation writes, and which of them can be matched on. */
export async function getFields(this: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	return await orNotice(async () => await fieldsToWrite(this, await editorContext(this)));
}

/** The fields an upsert can match on, after its default. */
export async function getMatchFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const context = await editorContext(this);
	const { fields, write } = await fieldsOfWrite(context);
	// By these names, records are looked up before they are written.
	const isUpsert = context.operation?.option.value === 'upsert';
	const byName = isUpsert ? nameFieldsToMatchOn.filter((name) => fields.some((field) => field.name === name)) : [];
	const names = write.match ? [...new Set([...matchableNames(write.match, fields), ...byName])] : [];
	const options = names.map((name) => ({
		name: fields.find((field) => field.name === name)?.label ?? name,
		value: name,
	}));
	const [first] = options;
	// n8n marks a value that is not listed, such as an empty one, as wrong.
	return first ? [{ name: `Default (${first.name})`, value: '' }, ...options] : [];
}

/** @param parameter the mapper that shows them */
export async function fieldsToWrite(
	n8n: ILoadOptionsFunctions,
	context: EditorContext,
	parameter = 'fields',
	asShown = (field: Field): Field => field,
): Promise<ResourceMapperFields> {
	const { api, fields: writable, write } = await fieldsOfWrite(context);
	const fields = writable.map(asShown);
	// n8n's mapper offers no choice of several: these are written with commas.
	const single = fields.filter((field) => valueShape(field) !== 'list');
	const linkOptions = await linkOptionsOf(api, single);
	const matchable = write.match ? matchableNames(write.match, writable) : [];
	const needed = fields.filter(({ required, name }) => required || matchable.includes(name));
	const initialFields = shownAtFirst(fields, needed);
	const isTool = isToolCall(n8n);
	const { value } = (n8n.getCurrentNodeParameter(parameter) ?? {}) as { value?: Record<string, unknown> | null };
	const stored = value ?? {};
	const mapped = [...new Set([...needed, ...fields])].map((originalField) => {
		// An upsert requires these fields for new records only.
		const field = write.match ? { ...originalField, required: false } : originalField;
		const options = valueShape(field) === 'list' ? undefined : (linkOptions.get(field.name) ?? choiceOptions(field));
		// Links would be JSON, which is unnecessary if they can be picked beside the mapper.
		const isBeside = context.resource.hasLinks && originalField.linksTo !== undefined;
		const isFirst = initialFields.has(originalField) && !isBeside;
		return mapperField(field, options, { required: isFirst, removed: !isFirst && !Object.hasOwn(stored, field.name) }, isTool);
	});
	return formWith(api, mapped.sort((a, b) => Number(a.removed) - Number(b.removed)), stored);
}

/**
 * A form with these fields. If not all come from the service, a line above them says so, and the fields that the user has
 * mapped are added: n8n 2.41 drops the values of fields that are not listed. n8n asks again when the node is opened and a
 * stored field lacks `readOnly` (`refreshIncompleteSchemaOnOpen`), so it is left out of such fields.
 *
 * @param stored the user's entries, by field
 */
function formWith({ notices }: Connection, fields: ResourceMapperField[], stored: Record<string, unknown>): ResourceMapperFields {
	const accepting = (all: ResourceMapperField[]) => all.map((field) => acceptingStored(field, stored[field.id]));
	const [notice] = notices;
	if (notice === undefined) return { fields: accepting(fields.map((field) => ({ ...field, readOnly: false }))) };
	const names = new Set(fields.map(({ id }) => id));
	const missing = Object.keys(stored).filter((name) => !names.has(name));
	const added = missing.map((name) => mapperField(fieldNamed(name, { label: labelFor(name) }), undefined, { removed: false }));
	return { fields: [notice === beforeCredential ? sourceMark : sourceLine(notice), ...accepting([...fields, ...added])] };
}

/** Number of fields that a form begins with if the description does not mark them: about a screenful. */
const firstFields = 8;

/**
 * The fields a form shows at first; n8n's mapper adds the others with one click each.
 *
 * @param needed the fields that are required or that identify the record
 */
function shownAtFirst(fields: Field[], needed: Field[]): ReadonlySet<Field> {
	// One JSON object for all custom fields is only needed if they are not listed one by one.
	const named = fields.filter(({ name }) => name !== allCustomFields);
	// Hiding one or two saves nothing.
	if (named.length <= firstFields + 2) return new Set(named);
	const important = fields.filter((field) => field.important);
	if (important.length > 0) return new Set([...needed, ...important]);
	return new Set([...needed, ...named.filter((field) => valueShape(field) !== 'object')].slice(0, Math.max(needed.length, firstFields)));
}

/** The fields that the chosen operation writes, with the custom fields of the account. */
export async function fieldsOfWrite({ api, resource, description, operation, collection }: EditorContext) {
	const write = operation?.describedWrite?.(description);
	if (!write) throw new NothingToOffer(`The CRM does not support this operation for ${resource.path}.`);

	const all = write.fields.find(({ name }) => name === allCustomFields);
	const custom = all ? (await customFieldsOf(api, collection))?.fields : undefined;
	// If the custom fields are known, even if there are none, a record needs no single entry for all of them.
	const standardFields = write.fields.filter(({ name }) => name !== allCustomFields || custom === undefined);
	// The definition of a custom field says what new records need.
	const makesNew = write.method === 'POST' || write.match !== undefined;
	const named = (custom ?? []).map((field) => (makesNew ? field : { ...field, required: false }));
	if (!all?.important) return { api, write, fields: [...standardFields, ...named] };
	// The records of a custom object consist of them: its form begins with them, as far as they fit on a screen.
	const first = named.map((field, i): Field => (i < firstFields ? { ...field, important: true } : field));
	return { api, write, fields: [...first, ...standardFields] };
}

function matchableNames({ values, takesCustomFields }: MatchDescription, fields: Field[]): string[] {
	const custom = takesCustomFields ? fields.filter(({ unique }) => unique) : [];
	return [...new Set([...values, ...custom.map(({ name }) => name)])];
}

/** n8n shows only `Retry` for an error of a mapper, so a disabled field says what to do first. */
export async function orNotice(read: () => Promise<ResourceMapperFields>): Promise<ResourceMapperFields> {
	return await read().catch((error: Error) => {
		if (!(error instanceof NothingToOffer)) throw error;
		return { fields: [], emptyFieldsNotice: error.message };
	});
}

/** Puts a field before the others, but after the line about their source. */
export const withFirst = (first: ResourceMapperField, fields: ResourceMapperField[]): ResourceMapperField[] =>
	fields[0] === sourceMark ? [sourceMark, first, ...fields.slice(1)] : [first, ...fields];

/** A field that stores nothing, above the others. */
const sourceField = { readOnly: true, defaultMatch: false, canBeUsedToMatch: false };

/** Invisible. While it is the first field, the form shows a notice (`mapperProperties`). */
const sourceMark: ResourceMapperField = {
	...sourceField, id: beforeCredential, displayName: beforeCredential, type: 'string', required: false, display: false, removed: true,
};

/** The entry in n8n's own menu above the fields. */
const howToRefresh = 'Custom fields and lists: ⋮ → Refresh Field List';

/** A disabled choice, which n8n does not store: its mapper cannot show a notice beside fields. */
const sourceLine = (notice: string): ResourceMapperField => ({
	...sourceField,
	id: 'fieldsSource',
	displayName: notice,
	type: 'options',
	options: [{ name: howToRefresh, value: '' }],
	required: true,
	display: true,
	removed: false,
});

const trueOrFalse = [
	{ name: 'True', value: true },
	{ name: 'False', value: false },
];

/** Maximum number of choices in the label of a list, for a model. */
const maxNamed = 8;

/** Maximum characters of a label that n8n shows: it cuts the rest. */
const maxShown = 26;

/**
 * Converts a field to an entry of n8n's resource mapper.
 *
 * @param options the values to choose from, if there is a list of them
 * @param more whether the form hides the field at first
 * @param isTool whether a model fills it in, which sees labels only, and all of them
 */
export function mapperField(
	field: Field,
	options: INodePropertyOptions[] | undefined,
	more: Partial<Pick<ResourceMapperField, 'removed' | 'required'>> = {},
	isTool = false,
): ResourceMapperField {
	const { name, kind } = field;
	const required = isRequiredInForm(field);
	const chosen = isBooleanField(field) ? trueOrFalse : options;
	const format = chosen ? '' : formOf(field, isTool);
	const notes = [required ? 'Required' : '', format].filter((note) => note !== '').join(', ');
	const label = notes === '' ? field.label : `${field.label} (${notes})`;
	const hasSeveral = !chosen && valueShape(field) === 'list';
	const mapped: ResourceMapperField = {
		id: name,
		// It says what to write, since n8n shows no description beside a mapped field.
		displayName: hasSeveral ? `${label}: ${severalOf(field, isTool ? Infinity : maxShown - label.length - 2)}` : label,
		type: chosen ? 'options' : fieldKinds[kind].control,
		required,
		display: true,
		// Match On is a parameter of its own.
		canBeUsedToMatch: false,
		defaultMatch: false,
		...more,
	};
	return chosen ? { ...mapped, options: chosen } : mapped;
}

/**
 * A field of a form that accepts its stored value. A name typed before the form had a list, a deleted record and a
 * removed choice become one more entry: n8n refuses to start a workflow with a value that its form does not accept,
 * even if the node or the service understands it.
 */
function acceptingStored(field: ResourceMapperField, stored: unknown): ResourceMapperField {
	const { id, type, options } = field;
	const isPlain = typeof stored === 'string' || typeof stored === 'number' || typeof stored === 'boolean';
	if (!type || !isPlain || isExpression(stored)) return field;
	if (validateFieldType(id, stored, type, { valueOptions: options ?? [] }).valid) return field;
	if (!options) return { ...field, type: 'string' };
	return { ...field, options: [...options, { name: String(stored) || 'Empty', value: stored }] };
}

/** The format of one value. Plain text needs no explanation, and people need none for the name of a linked record. */
function formOf({ kind, collection }: Field, isTool: boolean): string {
	return fieldKinds[kind].formatHint ?? (collection === undefined || !isTool ? '' : 'Name or ID');
}

/** The format of several values: with commas, if the label has room. */
function severalOf({ choices = [] }: Field, room: number): string {
	if (choices.length === 0) return 'comma-separated';
	const named = choices.slice(0, maxNamed).map(({ label }) => label);
	const upTo = (count: number) => [...named.slice(0, count), ...(count < choices.length ? ['…'] : [])].join(', ');
	let count = named.length;
	while (count > 0 && upTo(count).length > room) count -= 1;
	return count === 0 ? 'comma-separated' : upTo(count);
}
