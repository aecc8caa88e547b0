import type { IDataObject } from 'n8n-workflow';

import { getOrCreate } from '../base/maps';
import type { Connection } from '../api/connection';
import { collectionName, type Collection } from '../api/http/path';
import { isAnsweredWith } from '../api/refusals';
import { memberAtPath, withMemberAtPath } from '../base/ownMembers';
import { idField, type Field } from '../fields/field';
import { collectionAndPart, linkedIdsIn, isLink, withReplacedIds } from '../api/openapi/linkFields';
import { notReadable } from '../api/http/statuses';
import { lookUp } from './lookUp';
import { hasText, identifyingFields, isName, parseName, textOfName } from './names';
import { readParts } from './parts';

/** Maximum number of cached linked records per collection: some 10 MB. */
const maxCachedRecords = 100_000;

/** The values that identify records in place of their ids, by id; undefined for a record that has none. */
type IdentifyingValues = Map<unknown, { field: string; text: string } | undefined>;

type ReplacedBy = 'uniqueValues' | 'names';

export interface IdReplacement {
	/** Of the records; the values of links are replaced. */
	fields: Field[];
	by: ReplacedBy;
	/** What several calls share of the linked records, by what the ids are of: `/companies`, `/pipelines.stages`. */
	cache?: Map<Collection, IdentifyingValues>;
}

/**
 * Replaces the ids of linked records by a value that is unique among them and the same in any account, such as the domain
 * of a company, and the ids of their parts, such as stages, by their names. Import File finds the records by these values.
 * Each value names its field, as in `external_id:100123`. An id without such a value stays, and a notice says so.
 *
 * With `names`, ids are replaced by names, for people: Import File finds records by name, too, and refuses ambiguous
 * names. If the service does not return names, ids stay.
 *
 * @throws Error in the user's words if the service cannot find records by several ids (`uniqueValues`)
 */
export async function replaceIds(
	api: Connection, { fields, by, cache = new Map() }: IdReplacement, records: IDataObject[],
): Promise<IDataObject[]> {
	const links = fields.filter(isLink);
	const idsByTarget = new Map<Collection, Set<unknown>>();
	for (const field of links) {
		for (const record of records) {
			for (const [target, id] of linkedIdsIn(field, memberAtPath(record, field.path))) {
				getOrCreate(idsByTarget, target, () => new Set<unknown>()).add(id);
			}
		}
	}
	for (const [target, ids] of idsByTarget) {
		const values = getOrCreate(cache, target, (): IdentifyingValues => new Map());
		if (values.size > maxCachedRecords) values.clear();
		const unknownIds = [...ids].filter((id) => !values.has(id));
		for (const id of unknownIds) values.set(id, undefined);
		if (unknownIds.length === 0) continue;
		for (const [id, value] of await readIdentifyingValues(api, target, unknownIds, by)) values.set(id, value);
	}
	const valueFor = (field: Field, target: Collection, id: unknown): unknown => {
		const found = cache.get(target)?.get(id);
		// An import reads some texts as an id, or as a name with its field.
		const isPlainName = by === 'names' && found && isName(field, found.text) && parseName(found.text).field === undefined;
		if (found) return isPlainName ? found.text : textOfName(found.field, found.text);
		if (id !== null && id !== undefined) api.notices.add(idsStay[by](field.part ?? collectionName(target)));
		return id;
	};
	return records.map((record) =>
		links.reduce((changed, field) => {
			const value: unknown = memberAtPath(changed, field.path);
			if (value === null || value === undefined) return changed;
			return withMemberAtPath(changed, field.path, withReplacedIds(field, value, (target, id) => valueFor(field, target, id)));
		}, record),
	);
}

/**
 * Reads what identifies records, or all their parts. Names are a convenience: if the user may not read the records, the
 * file has their ids.
 */
async function readIdentifyingValues(api: Connection, target: Collection, ids: unknown[], by: ReplacedBy): Promise<IdentifyingValues> {
	const [collection, part] = collectionAndPart(target);
	const orNoNames = (error: unknown): undefined => {
		if (by === 'uniqueValues' || !isAnsweredWith(error, ...notReadable)) throw error;
	};
	if (part !== undefined) {
		const parts = (await readParts(api, collection, part).catch(orNoNames)) ?? [];
		return new Map(parts.filter(({ isUnique }) => isUnique).map(({ id, name }) => [id, { field: 'name', text: name }]));
	}
	const { list, upsert, fields: described = [] } = (await api.describe(collection)) ?? {};
	const fields = by === 'uniqueValues'
		? (upsert?.match?.values ?? []).filter((name) => identifyingFields.includes(name))
		: identifyingFields.filter((name) => described.some((field) => field.name === name));
	const recordList = list && fields.length > 0 ? { api, path: collection, list, filters: list.filters, fields } : undefined;
	const resultOf = recordList && (await lookUp(recordList, idField, ids).catch(orNoNames));
	return new Map(ids.map((id) => {
		const result = resultOf?.(id);
		if (by === 'uniqueValues' && fields.length > 0 && (!result || 'failed' in result)) {
			throw new Error(`Linked Records: the CRM cannot find ${collectionName(collection)} by several IDs at once. Choose IDs instead.`);
		}
		const record = result && 'found' in result ? result.found : undefined;
		const field = record && fields.find((name) => hasText(record[name]));
		return [id, field === undefined ? undefined : { field, text: String(record![field]).trim() }];
	}));
}

const idsStay = {
	uniqueValues: (nouns: string) =>
		`Some linked ${nouns} have no unique value by which Import File can find them. The file has their IDs, which other accounts do not know.`,
	names: (nouns: string) => `The names of some linked ${nouns} could not be read. The file has their IDs.`,
};
