import type { IDataObject } from 'n8n-workflow';

import { readAll, timelineOf } from '../api/lists/parallel';
import { readPage, readPages, type Send } from '../api/lists/pages';
import { sortKeysOf, unionOf } from '../api/lists/union';
import { comparedBy } from '../fields/condition';
import { readFilters } from '../mapping/filterValues';
import { collectionPath } from '../mapping/locator';
import type { Operation } from '../model';
import { listOptions, listProperties, type ListAbilities } from '../parameters/listParameters';
import { requireDescribed } from '../writing/requireWrite';
import { withNeededFields, recordOutput, listQueryOf, type ListQuery } from '../reading/query';
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

		async prepare(execution) {
			const list = await requireDescribed(execution, 'list');
			const fields = await requireDescribed(execution, 'fields');
			const summary = await requireDescribed(execution, 'summary');
			const filters = await readFilters(execution, 'filters', list);
			return eachItem(async (item) => {
				const path = collectionPath(execution, item);
				const queries = filters.queries(item);
				const filtered = queries.flatMap((query) => Object.keys(query)).map((parameter) => comparedBy(parameter).name);
				const shown = summary.length > 0 ? new Set([...summary, ...filtered.filter((name) => fields.some((field) => field.name === name))]) : [];
				const [reading, ...others] = queries.map((query) => listQueryOf(execution, item, { path, list, filters: query, fields, summary: [...shown] })) as [ListQuery, ...ListQuery[]];
				const isWhole = reading.limit === undefined && reading.cursor === undefined;
				const read = reading.isOnePage ? readOnePage : isWhole ? readCompleteList : readPartOfList;
				return await (others.length > 0 ? readUnion(execution.api.send, [reading, ...others]) : read(execution.api.send, reading));
			});
		},
	};
}

/** The records of any of the lists, which differ in their filters only. @throws Error in the user's words for options of a single list */
async function readUnion(send: Send, readings: [ListQuery, ...ListQuery[]]): Promise<IDataObject[]> {
	const [{ limit = Infinity, cursor, isOnePage, list, query }] = readings;
	if (isOnePage || cursor !== undefined) throw new Error('One Page and Cursor are for a single list, but filters joined by Or are read as several. Remove the option.');
	const order = sortKeysOf(list, query);
	const asOutput = recordOutput(readings[0]);
	const lists = readings.map((reading) => recordsIn(send, { ...reading, cursors: Math.ceil(reading.cursors / readings.length) }, order));
	const records: IDataObject[] = [];
	for await (const part of unionOf(lists, order)) {
		for (const record of part.slice(0, limit - records.length)) records.push(asOutput(record));
		if (records.length >= limit) break;
	}
	return records;
}

async function* recordsIn(send: Send, reading: ListQuery, order: ReturnType<typeof sortKeysOf>): AsyncGenerator<IDataObject[]> {
	const narrowed = withNeededFields(reading, order.map(({ field }) => field));
	const isWhole = reading.limit === undefined && reading.cursor === undefined;
	if (isWhole) yield await readAll(send, narrowed, (record) => record);
	else for await (const { records } of readPages(send, { ...narrowed, isFixed: timelineOf(reading) !== undefined })) yield records;
}

/** The whole list, with as many cursors at once as it allows. */
async function readCompleteList(send: Send, reading: ListQuery): Promise<IDataObject[]> {
	const timeline = timelineOf(reading);
	return await readAll(send, withNeededFields(reading, timeline && [timeline.field]), recordOutput(reading));
}

/** A list up to its limit, from a cursor on, or both. */
async function readPartOfList(send: Send, reading: ListQuery): Promise<IDataObject[]> {
	const records: IDataObject[] = [];
	const asOutput = recordOutput(reading);
	for await (const part of recordsIn(send, reading, [])) for (const record of part) records.push(asOutput(record));
	return records;
}

/** One page as a single item, with the cursor of the next page; even an empty page is an item. */
async function readOnePage(send: Send, reading: ListQuery): Promise<IDataObject> {
	const { path, list, query, limit = Infinity, cursor } = withNeededFields(reading);
	const { name, maximum = 0 } = list.pageSize ?? {};
	const sized = name !== undefined ? { ...query, [name]: Math.min(limit, maximum) } : query;
	const page = await readPage(send, path, { list, query: sized, cursor });
	const { records, next = null, total } = page;
	return {
		records: records.map(recordOutput(reading)),
		next_cursor: next,
		...(total !== undefined && { total }),
	};
}
