import type { IDataObject } from 'n8n-workflow';

import { getOrCreate } from '../base/maps';
import type { Connection } from '../api/connection';
import { isAnsweredWith } from '../api/record';
import { memberAtPath, withMemberAtPath } from '../base/ownMembers';
import { idField, type Field } from '../fields/field';
import { isLink, linkTarget, withReplacedIds } from '../api/openapi/linkFields';
import { notReadable } from '../api/http/statuses';
import { lookUp, type LookUpOutcome } from './lookUp';
import { hasText, identifyingFields, isName, parseName, textOfName } from './names';
import { readParts } from '../lookUp/parts';

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
	const links = fields.filter(isLink);
	/** By what they are keys of: `companies`, `pipelines.stages`. */
	const keysByPlace = new Map<string, Keys>();
	const placeOf = ({ part }: Field, collection: string): string => linkTarget({ collection, ...(part !== undefined && { part }) })!;

	return async (records) => {
		const idsByPlace = new Map<string, Set<unknown>>();
		for (const field of links) {
			for (const record of records) {
				withReplacedIds(field, memberAtPath(record, field.path), (collection, id) => {
					getOrCreate(idsByPlace, placeOf(field, collection), () => new Set<unknown>()).add(id);
					return id;
				});
			}
		}
		for (const [place, ids] of idsByPlace) {
			const keys = getOrCreate(keysByPlace, place, (): Keys => new Map());
			if (keys.size > maxCachedRecords) keys.clear();
			const unknownIds = [...ids].filter((id) => !keys.has(id));
			for (const id of unknownIds) keys.set(id, undefined);
			if (unknownIds.length > 0) for (const [id, key] of await readKeys(api, place, unknownIds, as)) keys.set(id, key);
		}
		const replaced = (field: Field, collection: string, id: unknown): unknown => {
			const key = keysByPlace.get(placeOf(field, collection))?.get(id);
			if (key) return as === 'names' && isReadAsName(field, key.text) ? key.text : textOfName(key.field, key.text);
			if (id !== null && id !== undefined) api.notices.add(idsStay[as](field.part ?? collection));
			return id;
		};
		return records.map((record) =>
			links.reduce((changed, field) => {
				const value: unknown = memberAtPath(changed, field.path);
				if (value === null || value === undefined) return changed;
				return withMemberAtPath(changed, field.path, withReplacedIds(field, value, (collection, id) => replaced(field, collection, id)));
			}, record),
		);
	};
}

/**
 * Reads the keys of records, or of all their parts. Names are a convenience: if the user may not read the records, the file
 * has their ids.
 *
 * @param place `companies`, `pipelines.stages`
 * @throws Error in the user's words if the service cannot find records by several ids (`keys`)
 */
async function readKeys(api: Connection, place: string, ids: unknown[], as: 'keys' | 'names'): Promise<Keys> {
	const [collection = '', part] = place.split('.');
	const orNoNames = (error: unknown): undefined => {
		if (as === 'keys' || !isAnsweredWith(error, ...notReadable)) throw error;
	};
	if (part !== undefined) {
		const parts = (await readParts(api, collection, part).catch(orNoNames)) ?? [];
		return new Map(parts.filter(({ isUnique }) => isUnique).map(({ id, name }) => [id, { field: 'name', text: name }]));
	}
	const { list, upsert, fields: described = [] } = (await api.describe(`/${collection}`)) ?? {};
	const fields = as === 'keys'
		? (upsert?.match?.values ?? []).filter((name) => identifyingFields.includes(name))
		: identifyingFields.filter((name) => described.some((field) => field.name === name));
	const reading = list && fields.length > 0 ? lookUp({ api, path: `/v1/${collection}`, list, filters: list.filters, fields }, idField, ids) : undefined;
	const outcomeOf = await reading?.catch(orNoNames);
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

const idsStay = {
	keys: (collection: string) =>
		`Some linked ${collection} have no unique value by which Import File can find them. The file has their IDs, which other accounts do not know.`,
	names: (nouns: string) => `The names of some linked ${nouns} could not be read. The file has their IDs.`,
};
