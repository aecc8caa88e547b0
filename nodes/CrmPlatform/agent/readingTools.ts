import type { IDataObject } from 'n8n-workflow';

import { readPages } from '../api/lists/pages';
import { readPage } from '../api/lists/page';
import type { Query } from '../api/http/path';
import { isBlank } from '../fields/blank';
import { readFilters } from '../mapping/filterValues';
import { withFields } from '../mapping/lookUp';
import type { ListDescription } from '../api/openapi/listing';
import type { ToolArgs } from './toolArgs';
import { fieldsOfKind, forReading, meantBy } from './toolFields';
import { filterRowsOf } from './toolFilters';
import { namedRecord } from './toolRecords';
import { toolCollection, toolDescription, executionFor, operationOfKind, type ToolRun } from './toolRun';
import { dataNotice, maxLimit } from './toolSchemas';
import type { ToolKind } from './toolSettings';

/** What a tool answers: records or figures, and what is to be said of them. */
export interface ToolAnswer {
	data: IDataObject[];
	notes: string[];
	/** Said only where all of the data fits into the answer. */
	ifWhole?: string;
}

const usualLimit = 10;

export async function searchTool(run: ToolRun, args: ToolArgs): Promise<ToolAnswer> {
	const kind = args.kind();
	const { list, summary } = await listOfKind(run, kind);
	const limit = args.number('limit', 1, maxLimit) ?? usualLimit;
	const query = { ...(await queryOf(run, kind, list, args)), ...sortOf(list, args.text('sort')) };
	const sized = list.pageSize ? { ...query, [list.pageSize.name]: Math.min(limit, list.pageSize.maximum) } : query;
	const page = await readPage(run.api.send, toolCollection(kind), { list, query: withFields(list, sized, summary), cursor: args.text('cursor', 2_000) });
	const { records } = page;
	const wanted = summary.length > 0 ? summary : undefined;
	const short = records.map((record) => (wanted ? Object.fromEntries(wanted.map((name) => [name, record[name]])) : record));
	const data = await forReading(run.api, await fieldsOfKind(run, kind), short);
	if (data.length === 0) return { data, notes: [`No ${kind.name} matches. Try other words or fewer filters.`] };
	const total = page.total ?? undefined;
	const notes = [...(total !== undefined && total > data.length ? [`${total} match in all.`] : []), ...noticeOn(data)];
	if (page.next === undefined) return { data, notes };
	return { data, notes, ifWhole: `There are more: send the same arguments with cursor ${page.next}, or narrow the search.` };
}

export async function getTool(run: ToolRun, args: ToolArgs): Promise<ToolAnswer> {
	const kind = args.kind();
	const { record } = await namedRecord(run, kind, args.text('record'));
	const [named = {}] = await forReading(run.api, await fieldsOfKind(run, kind), [record]);
	// Both the name of a linked record and its id: the name may be that of several.
	const ids = Object.entries(record).filter(([name, value]) => typeof value === 'string' && named[name] !== value && !isBlank(value));
	const both = Object.fromEntries(ids.flatMap(([name, value]) => [[name, value], [name.replace(/_id$/, '_name'), named[name]]]));
	const data = [{ ...named, ...both }];
	return { data, notes: noticeOn(data) };
}

/** Longer than a name: it may give orders. */
const isText = /"(?:[^"\\]|\\.){80,}"/;

const noticeOn = (data: IDataObject[]): string[] => (isText.test(JSON.stringify(data)) ? [dataNotice] : []);

/** Records whose values are read for groups and sums; counts alone have no bound. */
const maxCounted = 10_000;

export async function countTool(run: ToolRun, args: ToolArgs): Promise<ToolAnswer> {
	const kind = args.kind();
	const { list, names } = await listOfKind(run, kind);
	const fields = (await fieldsOfKind(run, kind)).filter(({ path }) => path.length === 1);
	const known = names.map((name) => ({ name, label: fields.find((field) => field.name === name)?.label ?? name }));
	const [group, sum] = ['group_by', 'sum'].map((name) => {
		const given = args.text(name);
		return given === undefined ? undefined : meantBy(known, given, 'field').name;
	});
	const query = await queryOf(run, kind, list, args);
	const one = list.pageSize ? { ...query, [list.pageSize.name]: 1 } : query;
	const { total } = await readPage(run.api.send, toolCollection(kind), { list, query: one });
	if (group === undefined && sum === undefined && total !== undefined) return { data: [{ count: total }], notes: [] };
	if (total !== undefined && total > maxCounted) throw new Error(`There are ${total} records, and ${maxCounted} at most can be grouped or summed. Narrow them by filters.`);

	const currency = sum !== undefined && names.includes('currency') && sum !== 'currency' ? 'currency' : undefined;
	const needed = [group, sum, currency].filter((name) => name !== undefined);
	const counted = new Map<string, { key: IDataObject; count: number; sum: number }>();
	let all = 0;
	const reading = { path: toolCollection(kind), list, query: withFields(list, query, needed), limit: maxCounted + 1 };
	for await (const { records } of readPages(run.api.send, reading)) {
		all += records.length;
		if (all > maxCounted) throw new Error(`There are more than ${maxCounted} records. Narrow them by filters.`);
		for (const record of records) {
			const value = sum === undefined ? 0 : Number(record[sum] ?? 0);
			if (Number.isNaN(value)) throw new Error(`${sum} has no numbers to add up. Use crm_describe to find one.`.replace('crm', run.settings.prefix));
			const key = Object.fromEntries([group, currency].flatMap((name) => (name === undefined ? [] : [[name, record[name] ?? null]]))) as IDataObject;
			const place = JSON.stringify(key);
			const entry = counted.get(place) ?? { key, count: 0, sum: 0 };
			counted.set(place, entry);
			entry.count += 1;
			entry.sum += value;
		}
	}
	const rows = [...counted.values()].sort((first, second) => (sum === undefined ? second.count - first.count : second.sum - first.sum));
	const keys = await forReading(run.api, fields, rows.map(({ key }) => key));
	const data = rows.map(({ count, sum: added }, i) => ({
		...(group !== undefined && { [group]: keys[i]?.[group] ?? '(none)' }),
		...(currency !== undefined && { currency: keys[i]?.[currency] ?? '(none)' }),
		count,
		...(sum !== undefined && { [`sum_of_${sum}`]: Math.round(added * 1e6) / 1e6 }),
	}));
	return data.length > 0 ? { data, notes: [] } : { data: [{ count: 0 }], notes: [] };
}

async function listOfKind(run: ToolRun, kind: ToolKind): Promise<{ list: ListDescription; summary: string[]; names: string[] }> {
	const { list, summary, fields } = await toolDescription(run, kind);
	if (!list) throw new Error(`Records of the kind ${kind.name} cannot be listed. Use another kind.`);
	return { list, summary, names: fields.map(({ name }) => name) };
}

/** The model's words and filters as a query, read as the node reads those of an author. */
async function queryOf(run: ToolRun, kind: ToolKind, list: ListDescription, args: ToolArgs): Promise<Query> {
	const rows = await filterRowsOf(run, kind, list, args);
	const execution = executionFor(run, kind, operationOfKind(kind, 'getMany'), { 'filters.rows': rows });
	return (await readFilters(execution, 'filters', list))(0) as Query;
}

function sortOf({ sort }: ListDescription, given: string | undefined): Query {
	if (given === undefined) return {};
	const isDescending = given.startsWith('-');
	const orders = (sort?.values ?? []).map((name) => ({ name, label: name }));
	const plain = orders.filter(({ name }) => !name.startsWith('-'));
	const found = meantBy(plain, given.replace(/^-/, ''), 'order').name;
	const name = isDescending ? `-${found}` : found;
	if (!sort || !orders.some((one) => one.name === name)) throw new Error(`${name} is no order. Use ${found}.`);
	return { [sort.name]: name };
}
