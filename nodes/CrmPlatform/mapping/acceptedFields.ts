import { getOrCreate } from '../base/maps';
import { readCustomFieldsIfAllowed } from '../api/customFields';
import { oncePerConnection } from '../api/oncePerConnection';
import { linksOf } from '../api/openapi/linkFields';
import { allCustomFields, customKeyOf, fieldNamed, type Field } from '../fields/field';
import type { Execution } from '../model';
import { wordsOf } from './fieldNames';
import { collectionPath } from './locator';
import type { StoredFields } from './storedFields';

/** The fields for which an item can have values. */
export interface AcceptedFields {
	fields: Field[];
	/** The names of all fields of a record, including read-only fields. */
	recordFieldNames: ReadonlySet<string>;
	/** The words of their names and labels: files for people have labels. */
	recordFieldWords?: ReadonlySet<string>;
}

/**
 * The fields of an item. Items may belong to different collections, as with records of custom objects.
 *
 * @throws Error in the user's words if they could not be read
 */
export type FieldsOf = (item: number) => AcceptedFields;

/** Prepares something for the fields of each item: once for all items with the same fields, as most have. @throws as `fieldsOf` */
export function oncePerFields<Prepared>(fieldsOf: FieldsOf, prepare: (accepted: AcceptedFields) => Prepared): (item: number) => Prepared {
	const cache = new Map<AcceptedFields, Prepared>();
	return (item) => {
		const accepted = fieldsOf(item);
		return getOrCreate(cache, accepted, () => prepare(accepted));
	};
}

/**
 * Reads the fields of each collection to which items belong, once per collection. If that fails, only the items of that
 * collection fail.
 *
 * @param read reads the fields of a collection
 * @param standard the fields of the other items
 * @param needs whether an item needs the fields of its collection
 */
export async function readFieldsOfItems(
	execution: Execution,
	read: (collection: string) => Promise<AcceptedFields>,
	standard: AcceptedFields,
	needs: (item: number) => boolean,
): Promise<FieldsOf> {
	const reading = new Map<string, Promise<AcceptedFields>>();
	const ofItem = async (item: number): Promise<AcceptedFields> => {
		const path = collectionPath(execution, item);
		return await getOrCreate(reading, path, () => read(path));
	};

	const byItem: Array<AcceptedFields | Error> = [];
	for (const item of (execution.rows ?? execution.n8n.getInputData()).keys()) {
		byItem.push(needs(item) ? await ofItem(item).catch((error: Error) => error) : standard);
	}
	return (item) => {
		const accepted = byItem[item] ?? standard;
		if (accepted instanceof Error) throw accepted;
		return accepted;
	};
}

/**
 * The fields of a write, with the account's custom fields one by one. These are read only if records have custom fields
 * and an item has a name that no other field has, since columns may omit the prefix of custom fields.
 *
 * @param namesOf the names for which an item has values
 * @param fields the fields in the service's description
 */
export async function acceptedFields(
	execution: Execution,
	mode: StoredFields['mode'],
	namesOf: (item: number) => string[],
	fields: Field[],
): Promise<FieldsOf> {
	const description = await execution.api.describe(execution.resource.path);
	const described = description?.fields.map(({ name }) => name) ?? [];
	const recordFieldWords = new Set(description?.fields.flatMap(({ name, label }) => [wordsOf(name), wordsOf(label)]));
	const standardFields: AcceptedFields = { fields, recordFieldNames: new Set(described), recordFieldWords };
	if (!fields.some(({ name }) => name === allCustomFields)) return () => standardFields;

	// A workflow may still map custom fields as a whole, perhaps from before any existed.
	const withCustom = (custom: Field[]) =>
		[...(mode === 'each' || custom.length === 0 ? fields : fields.filter(({ name }) => name !== allCustomFields)), ...custom];
	const read = async (collection: string): Promise<AcceptedFields> => {
		const custom = await customFieldsOnce(execution.api, collection);
		if (!custom) return { ...standardFields, fields: [...fields, ...untypedFields(execution, namesOf)] };
		const recordFieldNames = new Set([...described, ...custom.unwritableNames]);
		return { ...standardFields, fields: withCustom(custom.fields), recordFieldNames };
	};
	const namesOfOthers = new Set(['id', ...linksOf(fields).map(({ name }) => name), ...fields.flatMap(({ name, path: [member = ''] }) => [name, member])]);
	namesOfOthers.delete(allCustomFields);
	return await readFieldsOfItems(execution, read, standardFields, (item) => namesOf(item).some((name) => !namesOfOthers.has(name)));
}

export const customFieldsOnce = oncePerConnection(readCustomFieldsIfAllowed);

/**
 * The same for records that may have no custom fields, which services refuse to list then.
 *
 * @param collection with version prefix
 * @param fields of the records, in the service's description
 */
export async function customFieldsIfAny(api: Execution['api'], collection: string, fields: Field[]): ReturnType<typeof customFieldsOnce> {
	return fields.some(({ name }) => name === allCustomFields) ? await customFieldsOnce(api, collection) : undefined;
}

/** The custom fields that the items name, if the credential may not read their definitions. */
function untypedFields({ n8n, rows }: Execution, namesOf: (item: number) => string[]): Field[] {
	const names = new Set([...(rows ?? n8n.getInputData()).keys()].flatMap(namesOf));
	return [...names].flatMap((name) => {
		const key = customKeyOf(name);
		// A record may be picked for any of them; its collection is unknown.
		return key === undefined ? [] : [fieldNamed(name, { path: [allCustomFields, key], kind: 'any', collection: '' })];
	});
}
