import type { IDataObject } from 'n8n-workflow';

import { readAll, timelineOf } from '../api/lists/parallel';
import { readPage, readPages, type Send } from '../api/lists/pages';
import type { Query } from '../api/http/path';
import { readFilters } from '../mapping/filterValues';
import { collectionPath } from '../mapping/locator';
import type { Operation } from '../model';
import { listOptions, listProperties, type ListAbilities } from '../parameters/listParameters';
import { requireDescribed } from '../writing/requireWrite';
import { withNeededFields, recordOutput, listQueryOf, type ListQuery } from '../reading/query';
import { eachItem } from '../schedule';

/**
 * @param action the entry in n8n's list of actions, such as `Get many contacts`
 * @param abilities what the list cannot do, so that the node does not offer it
 */
export function getMany(action: string, abilities: ListAbilities = {}): Operation {
	return {
		option: {
			name: 'Get Many',
			value: 'getMany',
			action,
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
				const query = filters.query(item) as Query;
				const reading = listQueryOf(execution, item, { path, list, filters: query, fields, summary });
				if (reading.isOnePage) return await readOnePage(execution.api.send, reading);
				const isWhole = reading.limit === undefined && reading.cursor === undefined;
				return await (isWhole ? readCompleteList : readPartOfList)(execution.api.send, reading);
			});
		},
	};
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
	const isFixed = timelineOf(reading) !== undefined;
	for await (const page of readPages(send, { ...withNeededFields(reading), isFixed })) {
		for (const record of page.records) records.push(asOutput(record));
	}
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
