import type {
	ILoadOptionsFunctions,
	INodePropertyOptions,
	ResourceMapperFields,
} from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { readCustomFieldsIfAllowed, customFilters } from '../api/customFields';
import type { Field } from '../api/openapi/fields';
import type { WriteDescription } from '../api/openapi/writing';
import { choiceOptions, mapperField } from './mapperField';
import { NotChosenYet, editorContext, type EditorContext } from './editorContext';
import { referencesOf } from './references';

/** The fields the chosen operation takes, whether it writes them or filters by them. */
export async function acceptedFields(n8n: ILoadOptionsFunctions): Promise<Taken> {
	const now = await editorContext(n8n);
	return now.operation?.write ? await writable(now) : await filterable(now);
}

/** What can be given, and to whom. */
interface Taken {
	api: Connection;
	fields: Field[];
}

/** The fields the chosen operation takes, and which of them can be matched on. */
export async function getFields(this: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	return await onceChosen(async () => await fieldsToWrite(this));
}

async function fieldsToWrite(n8n: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	const { api, fields, write } = await writable(await editorContext(n8n));
	// n8n's mapper offers no choice of several: these are written with commas.
	const single = fields.filter(({ kind }) => kind !== 'list');
	const references = await referencesOf(api, single);
	const matchable = write.match ? matchableNames(write.match, fields) : [];
	return noticed(
		api,
		fields.map((field) => {
			const { name, kind } = field;
			const options = kind === 'list' ? undefined : (references.get(name) ?? choiceOptions(field));
			return mapperField(field, options, {
				canBeUsedToMatch: matchable.includes(name),
				defaultMatch: matchable[0] === name,
			});
		}),
	);
}

/** The fields an upsert can find the record by, for values given as JSON. */
export async function getMatchFields(this: ILoadOptionsFunctions): Promise<INodePropertyOptions[]> {
	const { fields, write } = await writable(await editorContext(this));
	const names = write.match ? matchableNames(write.match, fields) : [];
	return names.map((name) => ({
		name: fields.find((field) => field.name === name)?.label ?? name,
		value: name,
	}));
}

/** The values a list can be filtered by. */
export async function getFilters(this: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	return await onceChosen(async () => await fieldsToFilterBy(this));
}

async function fieldsToFilterBy(n8n: ILoadOptionsFunctions): Promise<ResourceMapperFields> {
	const { api, fields } = await filterable(await editorContext(n8n));
	const references = await referencesOf(api, fields);
	return noticed(
		api,
		fields.map((filter) => mapperField(filter, references.get(filter.name) ?? choiceOptions(filter))),
	);
}

async function filterable({ api, description, collection }: EditorContext): Promise<Taken> {
	const { filters = [], takesCustomFields = false } = description.list ?? {};
	const custom = takesCustomFields ? await customFieldsOf(api, collection) : [];
	return { api, fields: [...filters, ...customFilters(custom)] };
}

async function customFieldsOf(api: Connection, collection: string): Promise<Field[]> {
	return (await readCustomFieldsIfAllowed(api, collection))?.fields ?? [];
}

async function onceChosen(
	read: () => Promise<ResourceMapperFields>,
): Promise<ResourceMapperFields> {
	try {
		return await read();
	} catch (error) {
		return noticeOf(error as Error);
	}
}

/** n8n shows no error of a mapper's, so what is to be done first is said in its place. */
function noticeOf(error: Error): ResourceMapperFields {
	if (error instanceof NotChosenYet) return { fields: [], emptyFieldsNotice: error.message };
	throw error;
}

async function writable({ api, resource, description, operation, collection }: EditorContext) {
	const write = operation?.write?.(description);
	if (!write) throw new Error(`The service does not offer this for ${resource.path}.`);

	const custom = write.fields.some(({ name }) => name === 'custom_fields')
		? await customFieldsOf(api, collection)
		: [];
	// Defined one by one, they need no entry as a whole.
	const own = write.fields.filter(({ name }) => name !== 'custom_fields' || custom.length === 0);
	return { api, write, fields: [...own, ...custom] };
}

function matchableNames(
	{ values, takesCustomFields }: NonNullable<WriteDescription['match']>,
	fields: Field[],
): string[] {
	const custom = takesCustomFields ? fields.filter(({ unique }) => unique) : [];
	return [...values, ...custom.map(({ name }) => name)];
}

function noticed(api: Connection, fields: ResourceMapperFields['fields']): ResourceMapperFields {
	const [notice] = api.notices;
	return notice === undefined ? { fields } : { fields, emptyFieldsNotice: notice };
}
