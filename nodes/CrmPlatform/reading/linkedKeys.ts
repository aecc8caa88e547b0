import type { IDataObject } from 'n8n-workflow';

import { getOrCreate } from '../base/maps';
import type { Connection } from '../api/connection';
import { isAnsweredWith } from '../api/record';
import { memberAtPath, withMemberAtPath } from '../base/ownMembers';
import { idField, type Field } from '../fields/field';
import { isRecordLink, withReplacedIds } from '../api/openapi/linkFields';
import { notReadable } from '../api/http/statuses';
import { lookUp, type LookUpOutcome } from '../lookUp/lookUp';
import { hasText, identifyingFields, isName, parseName, type Part, readParts, textOfName } from '../lookUp/names';

/** Maximum number of cached linked records per collection: some 10 MB. */
const maxCachedRecords = 100_000;

/** A value that replaces the id of a record. */
interface Key {
	field: string;
	text: string;
}

/** The keys by id; undefined for a record without a key. */
type Keys = Map<unknown, Key | undefined>;

/**
 * Replaces the ids of linked records by a value that is unique among them and the same in any account, such as the domain
 * of a company, and the ids of their parts, such as stages, by their names. Import File finds the records by these values.
 * Each value names its field, as in `external_id:100123`. An id without such a value stays, and a notice says so.
 *
 * With `names`, ids are replaced by names, for people: Import File finds records by name, too, and refuses ambiguous
 * names. If the service does not return names, ids stay.
 *
 * @param fields of the records; the values of links are replaced
 * @returns a function that replaces the ids of some records, and caches the values for the next call
 * @throws Error in the user's words from that function if the service cannot find records by several ids (`keys`)
 */
export function linkedKeys(
	api: Connection,
	fields: Field[],
	as: 'keys' | 'names',
): (records: IDataObject[]) => Promise<IDataObject[]> {
	const links = fields.filter(isRecordLink);
	const parts = fields.filter(({ part }) => part !== undefined);
	const keysByCollection = new Map<string, Keys>();
	/** Keys of parts, by the name of the field. */
	const keysOfParts = new Map<string, Keys>();

	const loadKeys = async (records: IDataObject[]): Promise<void> => {
		const idsByCollection = new Map<string, Set<unknown>>();
		for (const field of links) {
			for (const record of records) {
				withReplacedIds(field, memberAtPath(record, field.path), (collection, id) => {
					getOrCreate(idsByCollection, collection, () => new Set<unknown>()).add(id);
					return id;
				});
			}
		}
		for (const [collection, ids] of idsByCollection) {
			const keys = getOrCreate(keysByCollection, collection, (): Keys => new Map());
			if (keys.size > maxCachedRecords) keys.clear();
			const unknownIds = [...ids].filter((id) => !keys.has(id));
			if (unknownIds.length > 0) for (const [id, key] of await readKeys(api, collection, unknownIds, as)) keys.set(id, key);
		}
		for (const { name, collection = '', part = '', path } of parts) {
			if (keysOfParts.has(name) || !records.some((record) => memberAtPath(record, path))) continue;
			const recordParts = await readParts(api, collection, part);
			const keyOfPart = ({ isUnique, name: text }: Part): Key | undefined => (isUnique ? { field: 'name', text } : undefined);
			keysOfParts.set(name, new Map(recordParts.map((recordPart) => [recordPart.id, keyOfPart(recordPart)])));
		}
	};

	const keyOf = (field: Field, keys: Keys | undefined, nouns: string, id: unknown): unknown => {
		const key = keys?.get(id);
		if (key) return as === 'names' && isReadAsName(field, key.text) ? key.text : textOfName(key.field, key.text);
		if (id !== null && id !== undefined) api.notices.add((as === 'keys' ? withoutKey : withoutName)(nouns));
		return id;
	};
	const withKeys = (field: Field, value: unknown): unknown =>
		withReplacedIds(field, value, (collection, id) =>
			field.part === undefined
				? keyOf(field, keysByCollection.get(collection), collection, id)
				: keyOf(field, keysOfParts.get(field.name), field.part, id),
		);
	return async (records) => {
		await loadKeys(records);
		return records.map((record) =>
			[...links, ...parts].reduce((changed, field) => {
				const value: unknown = memberAtPath(changed, field.path);
				return value === null || value === undefined ? changed : withMemberAtPath(changed, field.path, withKeys(field, value));
			}, record),
		);
	};
}

/**
 * Reads the keys of records. Names are a convenience: if the user may not read the records, the file has their ids.
 *
 * @throws Error in the user's words if the service cannot find records by several ids (`keys`)
 */
async function readKeys(api: Connection, collection: string, ids: unknown[], as: 'keys' | 'names'): Promise<Keys> {
	const { list, upsert, fields: described = [] } = (await api.describe(`/${collection}`)) ?? {};
	const fields = as === 'keys'
		? (upsert?.match?.values ?? []).filter((name) => identifyingFields.includes(name))
		: identifyingFields.filter((name) => described.some((field) => field.name === name));
	const reading = list && fields.length > 0 ? lookUp({ api, path: `/v1/${collection}`, list, filters: list.filters, fields }, idField, ids) : undefined;
	const outcomeOf = await reading?.catch((error: unknown) => {
		if (as === 'names' && isAnsweredWith(error, ...notReadable)) return undefined;
		throw error;
	});
	return new Map(ids.map((id) => {
		const outcome = outcomeOf?.(id);
		if (as === 'keys' && fields.length > 0 && (!outcome || 'failed' in outcome)) {
			throw new Error(`Linked Records: the CRM cannot find ${collection} by several IDs at once. Choose IDs instead.`);
		}
		return [id, outcome && keyIn(outcome, fields)];
	}));
}

function keyIn(outcome: LookUpOutcome, fields: string[]): Key | undefined {
	const record = 'found' in outcome ? outcome.found : undefined;
	const field = record && fields.find((name) => hasText(record[name]));
	return field === undefined ? undefined : { field, text: String(record![field]).trim() };
}

/** Whether an import reads a text as a name in any field, and not as an id or a name with its field. */
const isReadAsName = (field: Field, text: string): boolean => isName(field, text) && parseName(text).field === undefined;

const withoutKey = (collection: string): string =>
	`Some linked ${collection} have no unique value by which Import File can find them. The file has their IDs, which other accounts do not know.`;

const withoutName = (collection: string): string =>
	`The names of some linked ${collection} could not be read. The file has their IDs.`;
