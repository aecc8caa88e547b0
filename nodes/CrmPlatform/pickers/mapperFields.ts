import {
	isExpression, validateFieldType, type ILoadOptionsFunctions, type INodePropertyOptions, type ResourceMapperField,
	type ResourceMapperFields,
} from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { isToolCall } from '../api/toolNode';
import { defined } from '../base/ownMembers';
import { allCustomFields, fieldNamed, idField, isRequiredInForm, labelFor, type Field } from '../fields/field';
import { fieldKinds, isBooleanField, valueShape } from '../fields/fieldKinds';
import {
	beforeCredential, choiceOptions, editorContext, fieldsOfWrite, type FieldsOfWrite, fieldsOnScreen, importedFields, linkOptionsOf,
} from './editorContext';

export async function getFields(n8n: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	return await formOf(n8n, 'fields', await fieldsOfWrite(await editorContext(n8n)));
}

/**
 * The fields that an import fills. Each takes the name of a column as text, since the columns of the file are unknown
 * here: n8n 2.41 gives an opened node its parameters but not its input (LoadOptionsContext).
 */
export async function getColumnFields(n8n: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	const imported = await importedFields(n8n);
	return await formOf(n8n, 'columns', { ...imported, fields: imported.fields.map(asColumn) });
}

const asColumn = ({ name, path, label, description, required, important, unique }: Field): Field =>
	({ ...defined({ name, path, label, description, required, important, unique }), kind: 'text' });

/** Always offers the id, but shows it only if matched on: when Match On changes, n8n cannot request fields again without emptying the form. */
export async function getSyncFields(n8n: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	const isChosen = ['matchOn', 'alsoMatchOn'].some((name) => n8n.getCurrentNodeParameter(name) === idField.name);
	const id = mapperField({ ...idField, label: 'ID (to match on)' }, undefined, { required: isChosen, removed: !isChosen });
	return await formOf(n8n, 'fields', await fieldsOfWrite(await editorContext(n8n)), id);
}

/** The fields to set in records that are missing in the source; all are optional. */
export async function getFieldsToSet(n8n: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	const { fields } = await formOf(n8n, 'missingValues', await fieldsOfWrite(await editorContext(n8n)));
	return { fields: fields.map((field) => ({ ...field, required: false, removed: true })) };
}

/** The form of the mapper `parameter`. @param id the entry for the ID of a record, if it is not among the fields */
async function formOf(
	n8n: ILoadOptionsFunctions,
	parameter: string,
	{ api, resource, write, fields, matchableNames }: FieldsOfWrite,
	id?: ResourceMapperField,
): Promise<ResourceMapperFields> {
	// n8n's mapper offers no choice of several: these are written with commas.
	const single = fields.filter((field) => valueShape(field) !== 'list');
	const linkOptions = await linkOptionsOf(api, single);
	const needed = fields.filter(({ required, name }) => required || matchableNames.includes(name));
	const initialFields = shownAtFirst(fields, needed);
	const isTool = isToolCall(n8n);
	const { value } = (n8n.getCurrentNodeParameter(parameter) ?? {}) as { value?: Record<string, unknown> | null };
	const stored = value ?? {};
	const mapped = [...new Set([...needed, ...fields])].map((field) => {
		const options = single.includes(field) ? (linkOptions.get(field.name) ?? choiceOptions(field)) : undefined;
		// Links would be JSON, which is unnecessary if they can be picked beside the mapper.
		const isBeside = resource.isEveryday && field.linksTo !== undefined;
		const isFirst = initialFields.has(field) && !isBeside;
		// An upsert requires its fields for new records only.
		const shownField = write.match ? { ...field, required: false } : field;
		return mapperField(shownField, options, { required: isFirst, removed: !isFirst && !Object.hasOwn(stored, field.name) }, isTool);
	});
	const entries = id === undefined ? mapped : id.removed ? [...mapped, id] : [id, ...mapped];
	return formWith(api, entries.sort((a, b) => Number(a.removed) - Number(b.removed)), stored);
}

/**
 * A form with these fields. If not all come from the service, a line above them says so, and the fields that the user has mapped (`stored`) are
 * added: n8n 2.41 drops the values of fields that are not listed. n8n asks again when the node is opened and a stored field lacks `readOnly`
 * (`refreshIncompleteSchemaOnOpen`), so it is left out of such fields.
 */
function formWith({ notices }: Connection, fields: ResourceMapperField[], stored: Record<string, unknown>): ResourceMapperFields {
	const accepting = (all: ResourceMapperField[]) => all.map((field) => acceptingStored(field, stored[field.id]));
	const [notice] = notices;
	if (notice === undefined) return { fields: accepting(fields.map((field) => ({ ...field, readOnly: false }))) };
	const names = new Set(fields.map(({ id }) => id));
	const unlisted = Object.keys(stored).filter((name) => !names.has(name));
	const added = unlisted.map((name) => mapperField(fieldNamed(name, { label: labelFor(name) }), undefined, { removed: false }));
	return { fields: [notice === beforeCredential ? credentialMark : noticeLine(notice), ...accepting([...fields, ...added])] };
}

/** The fields a form shows at first; others are one click away. @param needed the fields that are required or identify the record */
function shownAtFirst(fields: Field[], needed: Field[]): ReadonlySet<Field> {
	// One JSON object for all custom fields is only needed if they are not listed one by one.
	const named = fields.filter(({ name }) => name !== allCustomFields);
	// Hiding one or two saves nothing.
	const important = fields.filter((field) => field.important);
	return new Set(named.length <= fieldsOnScreen + 2 || important.length === 0 ? named : [...needed, ...important]);
}

/** A field that stores nothing, above the others. */
const storesNothing = { readOnly: true, defaultMatch: false, canBeUsedToMatch: false };

/** Invisible. While it is the first field, the form shows a notice (`mapperProperties`). */
const credentialMark: ResourceMapperField = {
	...storesNothing, id: beforeCredential, displayName: beforeCredential, type: 'string', required: false, display: false, removed: true,
};

/** The entry in n8n's own menu above the fields. */
const howToRefresh = 'Custom fields and lists: ⋮ → Refresh Field List';

/** A disabled choice, which n8n does not store: its mapper cannot show a notice beside fields. */
const noticeLine = (notice: string): ResourceMapperField => ({
	...storesNothing,
	id: 'fieldsSource',
	displayName: notice,
	type: 'options',
	options: [{ name: howToRefresh, value: '' }],
	required: true,
	display: true,
	removed: false,
});

const trueOrFalse = [{ name: 'True', value: true }, { name: 'False', value: false }];

/** Maximum number of choices in the label of a list, for a model. */
const maxNamed = 8;

/**
 * @param more whether the form hides the field at first
 * @param isTool whether a model fills it in, which sees labels only, and all of them
 */
function mapperField(
	field: Field,
	options: INodePropertyOptions[] | undefined,
	more: Partial<Pick<ResourceMapperField, 'removed' | 'required'>>,
	isTool = false,
): ResourceMapperField {
	const { name, kind } = field;
	const required = isRequiredInForm(field);
	const chosen = isBooleanField(field) ? trueOrFalse : options;
	// Plain text needs no explanation, and people need none for the name of a linked record.
	const format = chosen ? '' : (fieldKinds[kind].formatHint ?? (isTool && field.target !== undefined ? 'Name or ID' : ''));
	const notes = [required ? 'Required' : '', format].filter((note) => note !== '').join(', ');
	const label = notes === '' ? field.label : `${field.label} (${notes})`;
	const hasSeveral = !chosen && valueShape(field) === 'list';
	return {
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
		...(chosen && { options: chosen }),
	};
}

/**
 * A field that accepts its stored value: a name typed before the form had a list, a deleted record and a removed choice become one more
 * entry: n8n starts no workflow with a value that its form does not accept, even if the node or the service understands it.
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
