import type { IDataObject } from 'n8n-workflow';

import { readChanges } from '../api/lists/changes';
import { readAll, timelineOf } from '../api/lists/parallel';
import { readPage, type Send } from '../api/lists/page';
import { readPages } from '../api/lists/pages';
import type { Query } from '../api/http/path';
import { readFilters } from '../mapping/filters';
import { collectionPath } from '../mapping/picked';
import type { Execution, Operation, Run } from '../model';
import { changedIn, type ChangedSince } from '../parameters/changedSince';
import { lastRunOf } from '../reading/lastRun';
import { listOptions, listProperties } from '../parameters/list';
import { describedOperation } from '../writing/describedOperation';
import { withNeededFields, recordOutput, listQueryOf, type ListQuery } from '../reading/query';

/** @param action what n8n's list of actions says, such as `Get many contacts` */
export function getMany(action: string): Operation {
	return {
		option: {
			name: 'Get Many',
			value: 'getMany',
			action,
			description: 'Read a list of records, filtered and sorted',
		},

		properties: listProperties,
		options: listOptions,

		async prepare(job) {
			const list = await describedOperation(job, 'list');
			const fields = await describedOperation(job, 'fields');
			const summary = await describedOperation(job, 'summary');
			const filters = await readFilters(job, 'filters', list);
			const since = job.n8n.getNodeParameter('changedSince', 0, 'ever') as ChangedSince;
			const readingFor = (item: number) => {
				const path = collectionPath(job, item);
				const asked = { path, list, since, filters: filters(item) as Query, fields, summary };
				return listQueryOf(job, item, asked);
			};

			if (since === 'lastRun') return changesOf(job, readingFor);
			return async (item) => {
				const reading = readingFor(item);
				if (reading.onePage) return await onePage(job.api.send, reading);
				const isWhole = reading.limit === undefined && reading.cursor === undefined;
				return await (isWhole ? whole : part)(job.api.send, reading);
			};
		},
	};
}

/** The whole list, with as many cursors at once as it allows. */
async function whole(send: Send, reading: ListQuery): Promise<IDataObject[]> {
	const timeline = timelineOf(reading);
	return await readAll(send, withNeededFields(reading, timeline && [timeline.field]), recordOutput(reading));
}

/** A list up to its limit, from a cursor on, or both. */
async function part(send: Send, reading: ListQuery): Promise<IDataObject[]> {
	const records: IDataObject[] = [];
	const asOutput = recordOutput(reading);
	for await (const page of readPages(send, withNeededFields(reading))) {
		for (const record of page.records) records.push(asOutput(record));
	}
	return records;
}

/** One page, and where the next one begins: an empty page has this too. */
async function onePage(send: Send, reading: ListQuery): Promise<IDataObject> {
	const { path, list, query, limit = Infinity, cursor } = withNeededFields(reading);
	const page: Query = { ...query, [list.cursor]: cursor };
	if (list.pageSize) page[list.pageSize.name] = Math.min(limit, list.pageSize.maximum);
	const { records, next = null, total } = await readPage(send, path, page);
	return {
		records: records.map(recordOutput(reading)),
		next_cursor: next,
		...(total !== undefined && { total }),
	};
}

/** What was changed since the last run. */
function changesOf(job: Execution, readingFor: (item: number) => ListQuery): Run {
	const lastRun = lastRunOf(job);
	return lastRun.keepingAfter(async (item) => {
		const reading = readingFor(item);
		const { list } = reading;
		const changed = changedIn(list, reading.query);
		const order = orderOfChange(reading, changed.field);
		const { query, ...asked } = withNeededFields(reading, ['id', changed.field]);
		const { records, mark } = await readChanges(
			job.api.send,
			{ ...asked, changed, query: { ...query, ...order } },
			lastRun.markOf(reading),
			recordOutput(reading),
		);
		if (mark) lastRun.reached(reading, mark);
		return records;
	});
}

/** @throws Error in the user's words where changes cannot be read in their order */
function orderOfChange({ list, query, onePage, cursor }: ListQuery, field: string): Query {
	const { sort } = list;
	if (!sort?.values.includes(field)) {
		throw new Error(
			'Changed Since Last Run: the service does not sort records by when they were changed. Choose Moment.',
		);
	}
	if (onePage || cursor !== undefined || query[sort.name] !== undefined) {
		throw new Error(
			'Changed Since Last Run reads all changes in their order, so it goes without the options Cursor, One Page and Sort. Remove them, or choose Moment.',
		);
	}
	return { [sort.name]: field };
}
