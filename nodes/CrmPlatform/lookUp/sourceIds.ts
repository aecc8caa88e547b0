import { oncePerConnection } from '../api/connection';
import type { Collection } from '../api/http/path';
import { readPages, type Page } from '../api/lists/pages';
import { externalId, sourceId } from '../fields/field';
import { lookUp } from './lookUp';
import { withFields, type RecordList } from './recordList';

/** Lists the records that came from another system. Undefined if the CRM cannot filter them so. */
export function pagesOfSource(
	{ api, path, list, fields }: Omit<RecordList, 'filters'>,
	source: string,
	limit = Infinity,
): AsyncIterable<Page> | undefined {
	const filter = `${externalId.name}[starts_with]`;
	if (!list.filters.some(({ name }) => name === filter)) return undefined;
	return readPages(api.send, { path, list, query: withFields(list, { [filter]: `${source}:` }, fields), limit });
}

/**
 * Prepares finding the records of a collection by their IDs in another system. Undefined if the CRM does not find them so.
 *
 * @returns finds records: the IDs in the CRM by those in the other system, which may belong to none
 */
export const sourceFinder = oncePerConnection(async (api, collection: Collection, source: string) => {
	const list = (await api.describe(collection))?.list;
	if (!list?.filters.some(({ name }) => name === externalId.name)) return undefined;
	const recordList: RecordList = { api, path: collection, list, filters: list.filters, fields: [externalId.name] };
	/** The IDs of records by their external IDs; undefined for one that no record has. */
	const found = new Map<string, string | undefined>();
	let requestedIds = 0;
	let isWhole = false;

	/** @returns whether all records of the other system were read: not if that takes more requests than the IDs requested so far */
	const readAll = async (): Promise<boolean> => {
		const pages = pagesOfSource(recordList, source);
		if (!pages) return false;
		for await (const { records, total = Infinity } of pages) {
			if (total > requestedIds * records.length && total > records.length) return false;
			for (const { id, external_id: external } of records) found.set(String(external), String(id));
		}
		return true;
	};
	return async (ids: string[]): Promise<Map<string, string>> => {
		const unknown = ids.map((id) => sourceId(source, id)).filter((id) => !found.has(id));
		if (unknown.length > 0 && !isWhole) {
			requestedIds += unknown.length;
			isWhole = requestedIds > 1 && (await readAll());
			const outcomeOf = isWhole ? undefined : await lookUp(recordList, externalId, unknown);
			for (const id of unknown) {
				const outcome = outcomeOf?.(id);
				if (outcome) found.set(id, 'found' in outcome ? outcome.found.id : undefined);
			}
		}
		return new Map(ids.flatMap((id): Array<[string, string]> => {
			const idInCrm = found.get(sourceId(source, id));
			return idInCrm === undefined ? [] : [[id, idInCrm]];
		}));
	};
});
