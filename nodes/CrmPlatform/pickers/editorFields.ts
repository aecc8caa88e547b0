import type { ILoadOptionsFunctions } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { currentFields, customFieldsIfAny, customFilters, readCustomFieldsIfAllowed } from '../api/customFields';
import type { WriteDescription } from '../api/openapi/writing';
import { allCustomFields, idField, type Field } from '../fields/field';
import { editorContext, NothingToOffer, type EditorContext } from './editorContext';

/** Catches the error of custom fields that cannot be read: a form is then without them, with a notice. */
const notLoaded = ({ notices }: Connection) => (error: Error): undefined =>
	void notices.add(`Custom fields could not be loaded (${error.message})`);

/** The fields of the chosen records, each custom field as one of them. */
export async function recordFields(n8n: ILoadOptionsFunctions) {
	const { api, description, collection } = await editorContext(n8n);
	const custom = await customFieldsIfAny(api, collection, description.fields).catch(notLoaded(api));
	return { description, custom, all: [...description.fields, ...currentFields(custom)] };
}

/** The filters of a list, including those on custom fields. */
export async function filtersOf({ api, description: { list }, collection }: EditorContext): Promise<Field[]> {
	if (!list) return [];
	const custom = list.takesCustomFields ? await readCustomFieldsIfAllowed(api, collection).catch(notLoaded(api)) : undefined;
	return [...list.filters, ...customFilters(list, currentFields(custom))];
}

/** A write, and its fields with the custom fields of the account. */
export interface FieldsOfWrite extends Pick<EditorContext, 'api' | 'resource'> {
	write: WriteDescription;
	fields: Field[];
	/** The names of the fields that an upsert can match on, its default first. */
	matchableNames: string[];
}

/** Number of fields that fill about a screen. */
export const fieldsOnScreen = 8;

/** @param describedWrite finds the write; by default, that of the chosen operation */
export async function fieldsOfWrite(
	{ api, resource, description, operation, collection }: EditorContext, describedWrite = operation?.describedWrite,
): Promise<FieldsOfWrite> {
	const write = describedWrite?.(description);
	if (!write) throw new NothingToOffer(`The CRM does not support this operation for ${resource.path}.`);

	const { method, match } = write;
	const all = write.fields.find(({ name }) => name === allCustomFields);
	const custom = (await customFieldsIfAny(api, collection, write.fields).catch(notLoaded(api)))?.fields;
	// If the custom fields are known, even if there are none, a record needs no single entry for all of them.
	const standardFields = write.fields.filter(({ name }) => name !== allCustomFields || custom === undefined);
	// The definition of a custom field says what new records need.
	const makesNew = method === 'POST' || match !== undefined;
	const named = (custom ?? []).map((field) => (makesNew ? field : { ...field, required: false }));
	// The records of a custom object consist of them: its form begins with them, as far as they fit on a screen.
	const first = named.map((field, i): Field => (i < fieldsOnScreen ? { ...field, important: true } : field));
	const fields = all?.important ? [...first, ...standardFields] : [...standardFields, ...named];
	const unique = match?.takesCustomFields ? fields.filter((field) => field.unique).map(({ name }) => name) : [];
	return { api, resource, write, fields, matchableNames: [...new Set([...(match?.values ?? []), ...unique])] };
}

/** The fields that an import fills, with the ID of the record that a row updates or deletes. */
export async function importedFields(n8n: ILoadOptionsFunctions): Promise<FieldsOfWrite> {
	const chosen = n8n.getCurrentNodeParameter('importAs');
	// An expression may have no value yet: without fields, n8n would forget the columns.
	const importAs = (['update', 'upsert', 'delete'] as const).find((option) => option === chosen) ?? 'create';
	const imported = await fieldsOfWrite(await editorContext(n8n), (description) => description[importAs]);
	const isById = importAs === 'update' || importAs === 'delete';
	return isById ? { ...imported, fields: [{ ...idField, required: true }, ...imported.fields] } : imported;
}
