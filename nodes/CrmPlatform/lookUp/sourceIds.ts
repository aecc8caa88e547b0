import { oncePerConnection } from '../api/connection';
import type { Collection } from '../api/http/path';
import { readPages, type Page } from '../api/lists/pages';
import { externalId, sourceId } from '../fields/field';
import { lookUp, withFields, type RecordList } from './lookUp';

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

/** The records of a collection that came from another system. Undefined if the CRM does not find its records so. */
export const recordsOfSource = oncePerConnection(async (api, collection: Collection, source: string) => {
	const list = (await api.describe(collection))?.list;
	if (!list?.filters.some(({ name }) => name === externalId.name)) return undefined;
	return new SourceRecords({ api, path: collection, list, filters: list.filters, fields: [externalId.name] }, source);
});

class SourceRecords {
	private readonly ids = new Map<string, string>();
	private readonly notFound = new Set<string>();
	private requestedIds = 0;
	private isWhole = false;
	private readonly recordList: RecordList;
	private readonly source: string;

	constructor(recordList: RecordList, source: string) {
		this.recordList = recordList;
		this.source = source;
	}

	/** The ID in the CRM of the record with this ID in the other system, once it was looked up. */
	idOf = (id: string): string | undefined => this.ids.get(sourceId(this.source, id));

	/** Looks records up: one by one, or all of the other system if these are fewer pages. */
	async find(ids: Iterable<string>): Promise<void> {
		const unknown = [...ids].map((id) => sourceId(this.source, id)).filter((id) => !this.ids.has(id) && !this.notFound.has(id));
		if (this.isWhole || unknown.length === 0) return;
		this.requestedIds += unknown.length;
		if (this.requestedIds > 1 && (await this.readAll())) return;
		const outcomeOf = await lookUp(this.recordList, externalId, unknown);
		for (const id of unknown) {
			const outcome = outcomeOf(id);
			if ('found' in outcome) this.ids.set(id, outcome.found.id);
			else this.notFound.add(id);
		}
	}

	/** @returns whether all were read: not if that takes more requests than the values asked for so far */
	private async readAll(): Promise<boolean> {
		const pages = pagesOfSource(this.recordList, this.source);
		if (!pages) return false;
		for await (const { records, total = Infinity } of pages) {
			if (total > this.requestedIds * records.length && total > records.length) return false;
			for (const { id, external_id: external } of records) this.ids.set(String(external), String(id));
		}
		return (this.isWhole = true);
	}
}
