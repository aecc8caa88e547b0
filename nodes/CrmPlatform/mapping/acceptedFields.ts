import { getOrCreate } from '../base/maps';
import { readCustomFieldsIfAllowed } from '../api/customFields';
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
	recordFieldWords: ReadonlySet<string>;
}

/**
 * Reads what the items of a collection share, such as its fields: once per collection, since items may belong to different
 * ones, as with records of custom objects. If that fails, only the items of that collection fail.
 *
 * @param needs whether an item needs what its collection has; the others share what is read for none
 * @returns what an item shares with others. @throws Error from that function, in the user's words, if it could not be read
 */
export async function sharedByItems<Shared>(
	execution: Execution,
	needs: (item: number) => boolean,
	read: (collection: string | undefined) => Promise<Shared>,
): Promise<(item: number) => Shared> {
	const reading = new Map<string | undefined, Promise<Shared>>();
	const sharedOf = async (item: number): Promise<Shared> => {
		const collection = needs(item) ? collectionPath(execution, item) : undefined;
		return await getOrCreate(reading, collection, () => read(collection));
	};
	const byItem: Array<Shared | Error> = [];
	// Without items, settings are read as for one.
	const count = Math.max(1, (execution.rows ?? execution.n8n.getInputData()).length);
	for (let item = 0; item < count; item++) byItem.push(await sharedOf(item).catch((error: Error) => error));
	return (item) => {
		const shared = byItem[item];
		if (shared instanceof Error) throw shared;
		return shared!;
	};
}

/**
 * What the items share that have the same fields, with the account's custom fields one by one. These are read only if
 * records have custom fields and an item has a name that no other field has, since columns may omit the prefix of custom
 * fields.
 *
 * @param namesOf the names for which an item has values
 * @param fields the fields in the service's description
 */
export async function sharedByFields<Shared>(
	execution: Execution,
	mode: StoredFields['mode'],
	namesOf: (item: number) => string[],
	fields: Field[],
	prepare: (accepted: AcceptedFields) => Shared,
): Promise<(item: number) => Shared> {
	const { api, resource, rows, n8n } = execution;
	const described = (await api.describe(resource.path))?.fields ?? [];
	const recordFieldNames = described.map(({ name }) => name);
	const recordFieldWords = new Set(described.flatMap(({ name, label }) => [wordsOf(name), wordsOf(label)]));
	const accepted = (all: Field[], unwritable: string[] = []) =>
		prepare({ fields: all, recordFieldNames: new Set([...recordFieldNames, ...unwritable]), recordFieldWords });
	const read = async (collection: string | undefined): Promise<Shared> => {
		if (collection === undefined) return accepted(fields);
		const custom = await readCustomFieldsIfAllowed(api, collection);
		if (!custom) return accepted([...fields, ...untypedFields(new Set([...(rows ?? n8n.getInputData()).keys()].flatMap(namesOf)))]);
		// A workflow may still map custom fields as a whole, perhaps from before any existed.
		const keepsWhole = mode === 'each' || custom.fields.length === 0;
		const standard = keepsWhole ? fields : fields.filter(({ name }) => name !== allCustomFields);
		return accepted([...standard, ...custom.fields], custom.unwritableNames);
	};
	const namesOfOthers = new Set(['id', ...linksOf(fields).map(({ name }) => name), ...fields.flatMap(({ name, path: [member = ''] }) => [name, member])]);
	const hasCustom = namesOfOthers.delete(allCustomFields);
	return await sharedByItems(execution, (item) => hasCustom && namesOf(item).some((name) => !namesOfOthers.has(name)), read);
}

/** The custom fields that items name, if the credential may not read their definitions. */
const untypedFields = (names: ReadonlySet<string>): Field[] =>
	[...names].flatMap((name) => {
		const key = customKeyOf(name);
		// A record may be picked for any of them; its collection is unknown.
		return key === undefined ? [] : [fieldNamed(name, { path: [allCustomFields, key], kind: 'any', collection: '' })];
	});
