import type {
	ILoadOptionsFunctions,
	INodePropertyOptions,
	ResourceMapperField,
	ResourceMapperFields,
} from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { readCustomFieldsIfAllowed, customFilters } from '../api/customFields';
import { labelFor, type Field } from '../api/openapi/fields';
import type { WriteDescription } from '../api/openapi/writing';
import { choiceOptions, mapperField } from './mapperField';
import { offeredFilters } from './offeredFilters';
import { NothingToOffer, editorContext, type EditorContext } from './editorContext';
import { referencesOf } from './references';

/** The fields of an operation, and the connection they were read with. */
interface OfferedFields {
	api: Connection;
	fields: Field[];
}

/** The fields the chosen operation takes, whether it writes them or filters by them. */
export async function offeredFields(n8n: ILoadOptionsFunctions): Promise<OfferedFields> {
	const context = await editorContext(n8n);
	return context.operation?.write ? await writableFields(context) : await filterFields(context);
}

/** The fields the chosen operation writes, and which of them can be matched on. */
export async function getFields(this: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	return await orNotice(async () => await fieldsToWrite(this));
}

/** The fields a list can be filtered by. */
export async function getFilters(this: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	return await orNotice(async () => await fieldsToFilterBy(this));
}

/** The fields an upsert can find the record by, after the one it uses unless told otherwise. */
export async function getMatchFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const { fields, write } = await writableFields(await editorContext(this));
	const names = write.match ? matchableNames(write.match, fields) : [];
	const options = names.map((name) => ({
		name: fields.find((field) => field.name === name)?.label ?? name,
		value: name,
	}));
	const [first] = options;
	// n8n marks a value that is not listed, such as an empty one, as wrong.
	return first ? [{ name: `Default (${first.name})`, value: '' }, ...options] : [];
}

async function fieldsToWrite(n8n: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	const { api, fields, write } = await writableFields(await editorContext(n8n));
	// n8n's mapper offers no choice of several: these are written with commas.
	const single = fields.filter(({ kind }) => kind !== 'list');
	const references = await referencesOf(api, single);
	const matchable = write.match ? matchableNames(write.match, fields) : [];
	const shown = shownAtFirst(fields, matchable);
	const mapped = fields.map((field) => {
		const { name, kind } = field;
		const options = kind === 'list' ? undefined : (references.get(name) ?? choiceOptions(field));
		return mapperField(field, options, {
			canBeUsedToMatch: matchable.includes(name),
			defaultMatch: matchable[0] === name,
			removed: !shown.has(field),
		});
	});
	const ordered = [
		...mapped.filter(({ required }) => required),
		...mapped.filter(({ required, removed }) => !required && !removed),
		...mapped.filter(({ required, removed }) => !required && removed),
	];
	return withSource(api, completed(n8n, 'fields', { api, fields: ordered }));
}

async function fieldsToFilterBy(n8n: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	const { api, fields } = await filterFields(await editorContext(n8n));
	const references = await referencesOf(api, fields);
	const mapped = offeredFilters(fields).map((filter) =>
		mapperField(filter, references.get(filter.name) ?? choiceOptions(filter), {
			defaultMatch: false,
			removed: true,
		}),
	);
	return { fields: completed(n8n, 'filters', { api, fields: mapped }) };
}

/** Fields that a form begins with where the description does not mark them; about a screenful. */
const firstFields = 8;

/** The fields a form shows at first; n8n's mapper adds the others with one click each. */
function shownAtFirst(fields: Field[], matchable: string[]): ReadonlySet<Field> {
	// To hide one or two would save nothing.
	if (fields.length <= firstFields + 2) return new Set(fields);
	const needed = fields.filter(({ required, name }) => required || name === matchable[0]);
	const important = fields.filter((field) => field.important);
	if (important.length > 0) return new Set([...needed, ...important]);
	return new Set([...needed, ...fields.filter(({ kind }) => kind !== 'json')].slice(0, Math.max(needed.length, firstFields)));
}

/** The filters, but for those that parameters of their own stand for. */
async function filterFields({ api, description, collection }: EditorContext): Promise<OfferedFields> {
	const { filters = [], takesCustomFields = false, changed, deleted } = description.list ?? {};
	const elsewhere = [changed?.since, deleted?.parameter];
	const custom = takesCustomFields ? await customFieldsOf(api, collection) : [];
	const own = filters.filter(({ name }) => !elsewhere.includes(name));
	return { api, fields: [...own, ...customFilters(custom)] };
}

async function writableFields({ api, resource, description, operation, collection }: EditorContext) {
	const write = operation?.write?.(description);
	if (!write) throw new NothingToOffer(`The service does not support this operation for ${resource.path}.`);

	const custom = write.fields.some(({ name }) => name === 'custom_fields')
		? await customFieldsOf(api, collection)
		: [];
	// With its custom fields listed one by one, a record needs no entry for all of them.
	const own = write.fields.filter(({ name }) => name !== 'custom_fields' || custom.length === 0);
	return { api, write, fields: [...own, ...custom] };
}

/** The custom fields that can be written; none, and a notice, if they cannot be read. */
export async function customFieldsOf(api: Connection, collection: string): Promise<Field[]> {
	const custom = await readCustomFieldsIfAllowed(api, collection).catch((error: Error) => {
		api.notices.add(`Custom fields could not be loaded (${error.message})`);
		return undefined;
	});
	return custom?.fields ?? [];
}

function matchableNames(
	{ values, takesCustomFields }: NonNullable<WriteDescription['match']>,
	fields: Field[],
): string[] {
	const custom = takesCustomFields ? fields.filter(({ unique }) => unique) : [];
	return [...values, ...custom.map(({ name }) => name)];
}

/** n8n shows no error of a mapper, only `Retry`; what the user has to do first is shown in its place. */
async function orNotice(read: () => Promise<ResourceMapperFields>): Promise<ResourceMapperFields> {
	const reading = read();
	const notice = await reading.then(
		() => undefined,
		(error: Error) => (error instanceof NothingToOffer ? error.message : undefined),
	);
	return notice === undefined ? await reading : { fields: [], emptyFieldsNotice: notice };
}

/**
 * The fields as they are, or, if not all of them come from the service, with those the user has mapped:
 * n8n 2.41 drops the values of fields that are not listed. n8n asks again when the node is opened and a
 * stored field lacks `readOnly` (`refreshIncompleteSchemaOnOpen`), so it is left out of such fields.
 *
 * @param parameter the mapper: `fields` or `filters`
 */
function completed(
	n8n: ILoadOptionsFunctions,
	parameter: string,
	{ api, fields }: { api: Connection; fields: ResourceMapperField[] },
): ResourceMapperField[] {
	if (api.notices.size === 0) return fields.map((field) => ({ ...field, readOnly: false }));
	const stored = n8n.getCurrentNodeParameter(parameter) as { value?: object | null } | undefined;
	const names = new Set(fields.map(({ id }) => id));
	const missing = Object.keys(stored?.value ?? {}).filter((name) => !names.has(name));
	const mapped = missing.map((name) => {
		const field: Field = { name, path: [name], label: labelFor(name), description: '', kind: 'text', required: false };
		return mapperField(field, undefined, { defaultMatch: false, removed: false });
	});
	return [...fields, ...mapped];
}

/** Above the fields of a form, one line that says where they come from, if not from the service. */
function withSource({ notices }: Connection, fields: ResourceMapperField[]): ResourceMapperFields {
	const [notice] = notices;
	return { fields: notice === undefined ? fields : [sourceLine(notice), ...fields] };
}

const howToRefresh = 'Reopen the node to load all fields';

/** A disabled choice, of which n8n stores nothing: its mapper cannot show a notice beside fields. */
const sourceLine = (notice: string): ResourceMapperField => ({
	id: 'fieldsSource',
	displayName: notice,
	type: 'options',
	options: [{ name: howToRefresh, value: '' }],
	required: false,
	display: true,
	removed: false,
	readOnly: true,
	defaultMatch: false,
	canBeUsedToMatch: false,
});
