import type { IDataObject, INodeListSearchItems, INodeListSearchResult } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import type { Collection, Query } from '../api/http/path';
import { readPage } from '../api/lists/pages';
import type { ListDescription } from '../api/openapi/listing';
import { firstText, recordName } from '../api/record';
import { occurrences } from '../base/maps';
import { namesAt } from './linkedNames';

const pageSize = 100;

/** The user's search text, and the page to read. */
interface SearchQuery {
	filter: string | undefined;
	cursor: string | undefined;
	/** The orders that suit the list, the best first; if absent, the newest records come first. */
	order?: string[];
	/** The field whose value is picked. */
	value?: string;
}

export async function searchList(
	api: Connection,
	collection: Collection,
	{ filter, cursor, order, value = 'id' }: SearchQuery,
): Promise<INodeListSearchResult> {
	const list = (await api.describe(collection))?.list;
	if (!list) throw new Error(`The CRM cannot list ${collection}. Enter the ID of the record instead.`);

	const query: Query = {};
	if (filter && list.search !== undefined) query[list.search] = filter;
	const orders = order ?? [`-${list.created?.field}`];
	const possible = orders.find((candidate) => list.sort?.values.includes(candidate));
	if (list.sort && possible !== undefined) query[list.sort.name] = possible;
	if (list.pageSize) query[list.pageSize.name] = Math.min(pageSize, list.pageSize.maximum);
	const { records, next } = await readPage(api.send, collection, { list, query, cursor });
	const items = distinctListItems(records, value, await companyNames(api, list, records));
	const results = list.search === undefined ? matchingName(items, filter) : items;
	return next === undefined ? { results } : { results, paginationToken: next };
}

const companyField = 'company_id';

/** The names of the records' companies, by id; empty if they cannot be read. */
async function companyNames(api: Connection, { filters }: ListDescription, records: IDataObject[]): Promise<CompanyNames> {
	const ids = [...new Set(records.map(({ [companyField]: id }) => id).filter((id) => typeof id === 'string'))];
	const companyCollection = filters.find(({ name }) => name === companyField)?.target;
	if (ids.length === 0 || companyCollection === undefined) return new Map();
	return (await namesAt(api, companyCollection, ids).catch(() => undefined)) ?? new Map();
}

type CompanyNames = ReadonlyMap<unknown, string | undefined>;

/** The items whose names contain the filter, ignoring case; all items without a filter. */
export function matchingName<Item extends { name: string }>(items: Item[], filter = ''): Item[] {
	const searchText = filter.toLowerCase();
	return items.filter(({ name }) => name.toLowerCase().includes(searchText));
}

/** Its title, and details that distinguish it from others with the same title. */
export function listItem(record: IDataObject, value = 'id', company?: string): INodeListSearchItems {
	const id = String(record[value]);
	const name = recordName(record);
	const content = firstText(record, contentFields)?.slice(0, maxCharacters);
	const details = [
		firstText(record, ['email', 'domain']),
		company,
		amountOf(record),
		firstText(record, ['status', 'state']),
		numberOf(record),
		name === undefined ? dateOf(record) : undefined,
	];
	const texts = [name ?? content, ...details].filter((text) => text !== undefined);
	return { name: [...new Set(texts)].join(' – ') || id, value: id };
}

/** The list items of records; items with equal names also show the creation time. */
export function distinctListItems(records: IDataObject[], value: string, companies: CompanyNames): INodeListSearchItems[] {
	const items = records.map((record) => listItem(record, value, companies.get(record.company_id)));
	const counts = occurrences(items.map(({ name }) => name));
	return items.map((item, i) => {
		const date = dateOf(records[i] ?? {});
		const isAlone = counts.get(item.name) === 1 || date === undefined;
		return isAlone ? item : { ...item, name: `${item.name} – ${date}` };
	});
}

/** The fields whose first characters replace a missing name. */
const contentFields = ['url', 'body', 'text', 'event_type', 'type', 'operation'];
const maxCharacters = 60;

function amountOf({ amount, currency }: IDataObject): string | undefined {
	if (typeof amount !== 'number' && !(typeof amount === 'string' && amount !== '')) return undefined;
	const number = Number.isNaN(Number(amount)) ? amount : Number(amount).toLocaleString('en');
	return [number, currency].filter((part) => typeof part === 'string').join(' ');
}

const numberOf = ({ number }: IDataObject): string | undefined =>
	(typeof number === 'number' || (typeof number === 'string' && number !== '') ? `#${number}` : undefined);

/** `2026-03-14 09:26`; undefined for a record without a time. */
function dateOf(record: IDataObject): string | undefined {
	const time = firstText(record, ['created_at', 'createdAt', 'timestamp']);
	return time?.slice(0, 16).replace('T', ' ');
}
