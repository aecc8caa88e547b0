import type { IDataObject } from 'n8n-workflow';

import type { Query } from '../api/http/path';
import { readAll, timelineOf } from '../api/lists/parallel';
import { readPage, readPages, type Send } from '../api/lists/pages';
import { sortKeysOf, unionOf } from '../api/lists/union';
import { requireDescribed } from '../api/requireDescribed';
import { comparedBy } from '../fields/condition';
import { readNamesOfParts } from '../lookUp/linkedNames';
import { queriesOf, readFilters } from '../mapping/filters';
import { collectionPath } from '../mapping/locator';
import type { Operation } from '../model';
import { listOptions, listProperties, type ListAbilities } from '../parameters/listParameters';
import { isSummary } from '../parameters/outputParameters';
import { withNeededFields, recordOutput, listQueryOf, type ListQuery } from '../reading/query';
import { namesToAdd } from '../reading/simplify';
import { eachItem } from '../schedule';

/** @param abilities what the list cannot do, so that the node does not offer it */
export function getMany(abilities: ListAbilities = {}): Operation {
	return {
		option: {
			name: 'Get Many',
			value: 'getMany',
			action: 'Get many %s',
			description: 'Retrieve a list of records, filtered and sorted',
		},

		properties: () => listProperties(abilities),
		options: listOptions(abilities),
		isOnceForAll: true,

		async prepare(run) {
			const { list, fields, summary } = await requireDescribed(run, 'list');
			const filters = await readFilters(run, 'filters', list);
			if (!isSummary(run.n8n) && namesToAdd(run.n8n) !== 'none') void readNamesOfParts(run.api, fields);
			return eachItem(async (item) => {
				const path = collectionPath(run, item);
				const queries = queriesOf(filters[item]!);
				const filtered = queries.flatMap((query) => Object.keys(query)).map((parameter) => comparedBy(parameter).name);
				const isField = (name: string) => fields.some((field) => field.name === name);
				const simplified = summary.length > 0 ? [...new Set([...summary, ...filtered.filter(isField)])] : [];
				const listQueryFor = async (query: Query) => await listQueryOf(run, item, { path, list, filters: query, fields, summary: simplified });
				const [listQuery, ...others] = (await Promise.all(queries.map(listQueryFor))) as [ListQuery, ...ListQuery[]];
				return await (listQuery.isOnePage && others.length === 0 ? readOnePage : readRecords)(run.api.send, listQuery, others);
			});
		},
	};
}

/** The records of any of the lists, which differ in their filters only. @throws Error in the user's words for options of a single list */
async function readRecords(send: Send, listQuery: ListQuery, others: ListQuery[]): Promise<IDataObject[]> {
	const { limit = Infinity, cursor, isOnePage, list, query } = listQuery;
	const asOutput = recordOutput(listQuery);
	const records: IDataObject[] = [];
	if (others.length === 0) {
		for await (const page of recordsIn(send, listQuery, [], asOutput)) for (const record of page) records.push(record);
		return records;
	}
	if (isOnePage || cursor !== undefined) {
		throw new Error('One Page and Cursor are for a single list, but filters joined by Or are read as several. Remove the option.');
	}
	const order = sortKeysOf(list, query);
	const needed = order.map(({ field }) => field);
	const cursors = Math.ceil(listQuery.cursors / (others.length + 1));
	const lists = [listQuery, ...others].map((each) => recordsIn(send, { ...each, cursors }, needed, (record) => record));
	for await (const page of unionOf(lists, order, limit !== Infinity)) {
		for (const record of page.slice(0, limit - records.length)) records.push(asOutput(record));
		if (records.length >= limit) break;
	}
	return records;
}

/** The records of a list up to its limit, some at a time; a whole list with as many cursors at once as it allows. */
async function* recordsIn(
	send: Send,
	listQuery: ListQuery,
	needed: string[],
	handle: (record: IDataObject) => IDataObject,
): AsyncGenerator<IDataObject[]> {
	const timeline = timelineOf(listQuery);
	const isWhole = listQuery.limit === undefined && listQuery.cursor === undefined;
	const narrowed = withNeededFields(listQuery, isWhole && timeline ? [...needed, timeline.field] : needed);
	if (isWhole) yield await readAll(send, narrowed, handle);
	else for await (const { records } of readPages(send, { ...narrowed, isFixed: timeline !== undefined })) yield records.map(handle);
}

/** One page as a single item, with the cursor of the next page; even an empty page is an item. */
async function readOnePage(send: Send, listQuery: ListQuery): Promise<IDataObject> {
	const { path, list, query, limit = Infinity, cursor } = withNeededFields(listQuery);
	const { name, maximum = 0 } = list.pageSize ?? {};
	const sized = name !== undefined ? { ...query, [name]: Math.min(limit, maximum) } : query;
	const page = await readPage(send, path, { list, query: sized, cursor });
	const { records, next = null, total } = page;
	return {
		records: records.map(recordOutput(listQuery)),
		next_cursor: next,
		...(total !== undefined && { total }),
	};
}
