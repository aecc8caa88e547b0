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
import type { ResourceDescription } from '../api/openapi/description';
import { allCustomFields, fieldNamed, idField, isRequiredInForm, labelFor, type Field } from '../fields/field';
import { fieldKinds, isBooleanField, valueShape } from '../fields/fieldKinds';
import type { MatchDescription } from '../api/openapi/writing';
import { customFieldsOf, NothingToOffer, beforeCredential, editorContext, type EditorContext } from './editorContext';
import { choiceOptions, linkOptionsOf } from './fieldChoices';
import type { Operation } from '../model';
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

/**
 * The fields that an import fills. Each takes the name of a column as text, since the columns of the file are unknown
 * here: n8n 2.41 gives an opened node its parameters but not its input (LoadOptionsContext).
 */
export async function getColumnFields(this: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	return await orNotice(async () => {
		const importAs = importAsOf(this);
		const id = mapperField({ ...idField, required: true }, undefined);
		if (importAs === 'delete') return { fields: [id] };
		const offered = await fieldsToWrite(this, await importContext(this), 'columns', asColumn);
		return { ...offered, fields: importAs === 'update' ? withFirst(id, offered.fields) : offered.fields };
	});
}

/** The same fields, for the exceptions of automatic mapping. */
export async function getColumnOptions(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const importAs = importAsOf(this);
	const { fields } = importAs === 'delete' ? { fields: [] } : await fieldsOfWrite(await importContext(this));
	const all = importAs === 'update' || importAs === 'delete' ? [idField, ...fields] : fields;
	return [{ name: 'Do Not Import', value: '' }, ...all.map(({ name, label }) => ({ name: label, value: name }))];
}

const importAsOf = (n8n: ILoadOptionsFunctions) => n8n.getCurrentNodeParameter('importAs') as keyof ResourceDescription | undefined;

async function importContext(n8n: ILoadOptionsFunctions): Promise<EditorContext> {
	const importAs = importAsOf(n8n);
	const context = await editorContext(n8n);
	const ofImport: Pick<Operation, 'describedWrite'> = {
		describedWrite: ({ create, update, upsert }) => (importAs === 'update' ? update : importAs === 'upsert' ? upsert : create),
	};
	return { ...context, ...(context.operation && { operation: { ...context.operation, ...ofImport } }) };
}

/** The user enters the name of a column, not a value of the field. */
function asColumn({ name, path, label, description, required, important }: Field): Field {
	return { name, path, label, description, required, kind: 'text', ...(important && { important }) };
}

const byId = { name: 'ID', value: 'id', description: 'The ID that the CRM assigned to the record' };

/** The fields a sync can find records by. @param unset label of the empty choice: a sync guesses no field to match on */
function syncMatchFields(unset: string) {
	return async function (this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
		const named = (await getMatchFields.call(this)).filter(({ value }) => value !== '');
		return [{ name: unset, value: '' }, ...named, byId];
	};
}

export const getSyncMatchFields = syncMatchFields('Choose a Field');
export const getSyncOtherMatchFields = syncMatchFields('None');

/**
 * The fields that a sync writes, and the id to find records by. The id is always offered, but shown only if it is
 * matched on: when Match On changes, n8n cannot request the fields again without emptying the form.
 */
export async function getSyncFields(this: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	const offered = await getFields.call(this);
	const chosen = ['matchOn', 'alsoMatchOn'].map((name) => this.getCurrentNodeParameter(name));
	const isChosen = chosen.includes(byId.value);
	const field = mapperField({ ...idField, label: 'ID (to match on)' }, undefined, { required: isChosen, removed: !isChosen });
	return { ...offered, fields: field.removed ? [...offered.fields, field] : withFirst(field, offered.fields) };
}

/** The fields to set in records that are missing in the source; all are optional. */
export async function getFieldsToSet(this: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	const offered = await orNotice(async () => await fieldsToWrite(this, await editorContext(this), 'missingValues'));
	return { ...offered, fields: offered.fields.map((field) => ({ ...field, required: false, removed: true })) };
}

/** @param parameter the mapper that shows them */
async function fieldsToWrite(
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
		const isBeside = context.resource.isEveryday && originalField.linksTo !== undefined;
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

/** Number of fields that fill about a screen. */
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
	const important = fields.filter((field) => field.important);
	return new Set(named.length <= firstFields + 2 || important.length === 0 ? named : [...needed, ...important]);
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
async function orNotice(read: () => Promise<ResourceMapperFields>): Promise<ResourceMapperFields> {
	return await read().catch((error: Error) => {
		if (!(error instanceof NothingToOffer)) throw error;
		return { fields: [], emptyFieldsNotice: error.message };
	});
}

/** Puts a field before the others, but after the line about their source. */
const withFirst = (first: ResourceMapperField, fields: ResourceMapperField[]): ResourceMapperField[] =>
	fields[0]?.readOnly === true ? [fields[0], first, ...fields.slice(1)] : [first, ...fields];

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

/**
 * Converts a field to an entry of n8n's resource mapper.
 *
 * @param options the values to choose from, if there is a list of them
 * @param more whether the form hides the field at first
 * @param isTool whether a model fills it in, which sees labels only, and all of them
 */
function mapperField(
	field: Field,
	options: INodePropertyOptions[] | undefined,
	more: Partial<Pick<ResourceMapperField, 'removed' | 'required'>> = {},
	isTool = false,
): ResourceMapperField {
	const { name, kind } = field;
	const required = isRequiredInForm(field);
	const chosen = isBooleanField(field) ? trueOrFalse : options;
	// Plain text needs no explanation, and people need none for the name of a linked record.
	const format = chosen ? '' : (fieldKinds[kind].formatHint ?? (isTool && field.collection !== undefined ? 'Name or ID' : ''));
	const notes = [required ? 'Required' : '', format].filter((note) => note !== '').join(', ');
	const label = notes === '' ? field.label : `${field.label} (${notes})`;
	const hasSeveral = !chosen && valueShape(field) === 'list';
	const mapped: ResourceMapperField = {
		id: name,
		// It says what to write, since n8n shows no description beside a mapped field.
		displayName: hasSeveral ? `${label}: ${severalOf(field, isTool)}` : label,
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

/** The format of several values: commas, between the choices that a model can learn from the label alone. */
function severalOf({ choices = [] }: Field, isTool: boolean): string {
	if (!isTool || choices.length === 0) return 'comma-separated';
	const named = choices.slice(0, maxNamed).map(({ label }) => label);
	return [...named, ...(choices.length > maxNamed ? ['…'] : [])].join(', ');
}
