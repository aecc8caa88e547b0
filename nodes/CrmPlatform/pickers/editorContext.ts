import {
	NodeOperationError, type IDataObject, type ILoadOptionsFunctions, type INodeListSearchItems, type INodePropertyOptions,
} from 'n8n-workflow';

import { connect, describedBy, nodeError, type Connection } from '../api/connection';
import { allFilters, currentFields, customFieldsIfAny, readCustomFieldsIfAllowed } from '../api/customFields';
import { filledPath, type Collection } from '../api/http/path';
import type { ResourceDescription } from '../api/openapi/description';
import { packagedDocument } from '../api/openapi/document';
import type { WriteDescription } from '../api/openapi/writing';
import { allCustomFields, idField, type Field } from '../fields/field';
import { commonMeaning } from '../log/crmEvent';
import { firstRecords } from '../lookUp/lookUp';
import { listItem } from '../lookUp/searchList';
import { operationOf, type Operation, type Resource } from '../model';
import { chosenResource, resourceAt } from '../resources';

/** The state of an opened node, as its pickers need it. */
export interface EditorContext {
	api: Connection;
	resource: Resource;
	description: ResourceDescription;
	/** With the records picked for its parameters. */
	collection: Collection;
	operation?: Operation | undefined;
}

/** Why an opened node has no choices to offer; its message tells the user what to do. */
export class NothingToOffer extends Error {}

/**
 * Reads the state of an opened node.
 *
 * @throws NothingToOffer if the fields depend on a choice the user has not made, or if the service
 * does not offer the resource
 */
export async function editorContext(n8n: ILoadOptionsFunctions): Promise<EditorContext> {
	const events = n8n.getCurrentNodeParameter('source') === 'records' ? undefined : n8n.getCurrentNodeParameter('events');
	if (events !== undefined) return await contextOfEvents(n8n, [events].flat().map(String));
	const resource = chosenResource((parameter) => n8n.getCurrentNodeParameter(parameter));
	if (!resource) throw new NothingToOffer('Choose a resource first.');
	const collection = filledPath(resource.path, (parent) => {
		const picked = n8n.getCurrentNodeParameter(parent, { extractValue: true });
		if (picked) return String(picked);
		const property = resource.parents?.find(({ name }) => name === parent);
		throw new NothingToOffer(`Choose the ${property?.displayName.toLowerCase() ?? parent} first.`);
	});
	const api = await editorConnection(n8n);
	const description = await api.describe(resource.path);
	if (!description) {
		throw new NothingToOffer(`The API description does not include ${resource.path}.`);
	}
	return { api, resource, description, collection, operation: operationOf(resource, n8n.getCurrentNodeParameter('operation')) };
}

/** The records that the chosen events of a trigger are about. */
async function contextOfEvents(n8n: ILoadOptionsFunctions, events: string[]): Promise<EditorContext> {
	const api = await editorConnection(n8n);
	const meaning = commonMeaning(events, await api.describeEvents());
	const resource = meaning && resourceAt(meaning.template);
	const description = resource && (await api.describe(resource.path));
	if (description) return { api, resource, description, collection: meaning.collection };
	throw new NothingToOffer('Choose events of one record type first.');
}

/**
 * The connection of an opened node. Without a usable credential, it uses the packaged description, and its
 * requests fail: n8n 2.41 requests fields before it assigns the credential to a node added behind another.
 */
export async function editorConnection(n8n: ILoadOptionsFunctions): Promise<Connection> {
	return await connect(n8n).catch((reason: Error) => withoutService(n8n, reason));
}

function withoutService(n8n: ILoadOptionsFunctions, reason: Error): Connection {
	const { parameters, credentials = {} } = n8n.getNode();
	const type = parameters.authentication === 'oAuth2' ? 'crmPlatformOAuth2Api' : 'crmPlatformApi';
	const refuse = async () => {
		throw new NodeOperationError(n8n.getNode(), reason);
	};
	const notices = new Set([type in credentials ? `Standard fields only (${reason.message})` : beforeCredential]);
	return {
		...describedBy(async () => ({ document: await packagedDocument(), isPackaged: true }), notices),
		viewer: '',
		secretDigest: '',
		sign: () => '',
		notices,
		send: refuse,
		mayHaveWritten: () => false,
		pause: refuse,
		failure: (problem) => nodeError(n8n, problem),
	};
}

/** Marks the fields of a form that n8n requested before the node had its credential. */
export const beforeCredential = 'beforeCredential';

/** Catches the error of custom fields that cannot be read: a form is then without them, with a notice. */
const notLoaded = ({ notices }: Connection) => (error: Error): undefined =>
	void notices.add(`Custom fields could not be loaded (${error.message})`);

/** The fields of the chosen records, each custom field as one of them. */
export async function recordFields(n8n: ILoadOptionsFunctions) {
	const { api, description, collection } = await editorContext(n8n);
	const custom = await customFieldsIfAny(api, collection, description.fields).catch(notLoaded(api));
	return { description, custom, all: [...description.fields, ...currentFields(custom)] };
}

export async function filtersOf({ api, description: { list }, collection }: EditorContext): Promise<Field[]> {
	if (!list) return [];
	const custom = list.takesCustomFields ? await readCustomFieldsIfAllowed(api, collection).catch(notLoaded(api)) : undefined;
	return allFilters(list, currentFields(custom));
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

/** The longest list to choose from without a search. */
const maxListLength = 100;

/**
 * Reads the records to which fields can link, if they are few. Each collection is requested once, all at the same time.
 * If a request fails, the fields that link to it are filled in by id.
 *
 * @returns the options by the field's name; none for a field whose records are too many for a list
 */
export async function linkOptionsOf(api: Connection, fields: Field[]): Promise<Map<string, INodePropertyOptions[]>> {
	const collections = [...new Set(fields.flatMap(({ target = [] }) => target))];
	const records = new Map(await Promise.all(collections.map(async (collection) =>
		[collection, await firstRecords(api, collection, maxListLength + 1).catch(() => [])] as const)));
	return new Map(fields.flatMap(({ name, target, part }) => {
		const options = (records.get(target!) ?? []).flatMap((record) => recordOptions(record, part));
		if (options.length === 0 || options.length > maxListLength) return [];
		// Parts, such as stages, have an order of their own.
		return [[name, part === undefined ? options.sort((a, b) => a.name.localeCompare(b.name, 'en')) : options] as const];
	}));
}

/** A record as an option, or its parts (a pipeline's `stages`), each with the record's name: parts of two records may have the same. */
function recordOptions(record: IDataObject, part?: string): INodeListSearchItems[] {
	const option = listItem(record);
	if (part === undefined) return [option];
	const parts = record[part];
	if (!Array.isArray(parts)) return [];
	return (parts as IDataObject[]).map((item) => {
		const { name, value } = listItem(item);
		return { name: `${option.name} – ${name}`, value };
	});
}

/** All records of a short list, or their parts: of one record if it is picked. */
export const listedOptions = async (api: Connection, path: Collection, part?: string, picked?: unknown): Promise<INodeListSearchItems[]> =>
	(await firstRecords(api, path)).filter(({ id }) => !picked || String(id) === String(picked)).flatMap((record) => recordOptions(record, part));

export const choiceOptions = ({ choices }: Field): INodePropertyOptions[] | undefined =>
	choices?.map(({ label, value }) => ({ name: label, value }));

export const optionsOf = (fields: Array<Pick<Field, 'name' | 'label'>>): INodePropertyOptions[] =>
	fields.map(({ name, label }) => ({ name: label, value: name }));
