import type { IDataObject } from 'n8n-workflow';

import { readPage } from '../api/lists/pages';
import type { Query } from '../api/http/path';
import { isBlank } from '../values/blank';
import { readFilters } from '../mapping/filterValues';
import { withFields } from '../lookUp/lookUp';
import type { ListDescription } from '../api/openapi/listing';
import type { ModelArguments } from './modelArguments';
import { fieldsOfRecordType, forReading, matchByName } from './toolFields';
import { filterRowsOf } from './toolFilters';
import { namedRecord } from './toolRecords';
import { toolCollection, toolDescription, executionFor, operationOfRecordType, type ToolRun } from './toolRun';
import { dataNotice, maxLimit } from './toolSchemas';
import type { RecordType } from './toolSettings';

/** A tool's answer: records or figures, and notes on them. */
export interface ToolAnswer {
	data: IDataObject[];
	notes: string[];
	/** A note that is added if all data fits into the answer. */
	noteIfComplete?: string;
}

const usualLimit = 10;

export async function searchTool(run: ToolRun, args: ModelArguments): Promise<ToolAnswer> {
	const recordType = args.recordType();
	const { list, summary, names } = await listOfRecordType(run, recordType);
	// Without this field, a deleted record would look like any other.
	const summaryFields = summary.length > 0
		? [...new Set([...summary, ...names.filter((name) => /^(deleted|archived|merged)(_|[A-Z])/.test(name))])]
		: [];
	const limit = args.number('limit', 1, maxLimit) ?? usualLimit;
	const query = { ...(await toolQueryOf(run, recordType, list, args)), ...sortOf(list, args.text('sort')) };
	const sizedQuery = list.pageSize ? { ...query, [list.pageSize.name]: Math.min(limit, list.pageSize.maximum) } : query;
	const page = await readPage(run.api.send, toolCollection(recordType), {
		list,
		query: withFields(list, sizedQuery, summaryFields),
		cursor: args.text('cursor', 2_000),
	});
	const { records, total } = page;
	const short = summaryFields.length > 0
		? records.map((record) => Object.fromEntries(summaryFields.map((name) => [name, record[name]])))
		: records;
	const data = await forReading(run.api, await fieldsOfRecordType(run, recordType), short);
	if (data.length === 0) return { data, notes: [`No ${recordType.name} matches. Try other words or fewer filters.`] };
	const notes = [...(total !== undefined && total > data.length ? [`${total} records match.`] : []), dataNotice];
	if (page.next === undefined) return { data, notes };
	return { data, notes, noteIfComplete: `There are more: send the same arguments with cursor ${page.next}, or narrow the search.` };
}

export async function getTool(run: ToolRun, args: ModelArguments): Promise<ToolAnswer> {
	const recordType = args.recordType();
	const { record } = await namedRecord(run, recordType, args.text('record'));
	const [named = {}] = await forReading(run.api, await fieldsOfRecordType(run, recordType), [record]);
	// Returns the name and the id of a linked record, since several records may have that name.
	const ids = Object.entries(record).filter(([name, value]) => typeof value === 'string' && named[name] !== value && !isBlank(value));
	const both = Object.fromEntries(ids.flatMap(([name, value]) => [[name, value], [name.replace(/_id$/, '_name'), named[name]]]));
	const data = [{ ...named, ...both }];
	return { data, notes: [dataNotice] };
}

export async function listOfRecordType(
	run: ToolRun,
	recordType: RecordType,
): Promise<{ list: ListDescription; summary: string[]; names: string[] }> {
	const { list, summary, fields } = await toolDescription(run, recordType);
	if (!list) throw new Error(`Records of the kind ${recordType.name} cannot be listed. Use another kind.`);
	return { list, summary, names: fields.map(({ name }) => name) };
}

/** Converts the model's search text and filters to a query, as the node does with an author's. */
export async function toolQueryOf(run: ToolRun, recordType: RecordType, list: ListDescription, args: ModelArguments): Promise<Query> {
	const parameters = { 'filters.rows': await filterRowsOf(run, recordType, list, args) };
	const execution = executionFor(run, { recordType, operation: operationOfRecordType(recordType, 'getMany'), parameters });
	return (await readFilters(execution, 'filters', list)).query(0) as Query;
}

function sortOf({ sort }: ListDescription, requestedOrder: string | undefined): Query {
	if (requestedOrder === undefined) return {};
	const isDescending = requestedOrder.startsWith('-');
	const orders = (sort?.values ?? []).map((name) => ({ name, label: name }));
	const plain = orders.filter(({ name }) => !name.startsWith('-'));
	const found = matchByName(plain, requestedOrder.replace(/^-/, ''), 'order').name;
	const name = isDescending ? `-${found}` : found;
	if (!sort || !orders.some((order) => order.name === name)) throw new Error(`${name} is not a sort order. Use ${found}.`);
	return { [sort.name]: name };
}
