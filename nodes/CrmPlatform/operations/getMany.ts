import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { readChanges } from '../api/changes';
import { readAll, timelineOf } from '../api/cursors';
import type { ListDescription } from '../api/listing';
import { readPage } from '../api/page';
import { pages } from '../api/pages';
import type { Query } from '../api/path';
import { columnsOf } from '../mapping/columns';
import type { Job, Operation, Run } from '../model';
import { lastRunOf } from './lastRun';
import { listOptions, listProperties } from './listProperties';
import { offered } from './offered';
import { changed, fieldsAsked, output, readingOf, type ChangedSince, type Reading } from './reading';

/** @param action what n8n's list of actions says, such as `Get many contacts` */
export function getMany(action: string): Operation {
	return {
		option: {
			name: 'Get Many',
			value: 'getMany',
			action,
			description: 'Read a list of records, filtered and sorted',
		},

		properties: () => [...listProperties, options],

		async prepare(job) {
			const list = await offered(job, 'list');
			const summary = await offered(job, 'summary');
			const filtersOf = await columnsOf(job, 'filters', list.filters, 'skip');
			const since = job.n8n.getNodeParameter('changedSince', 0, 'ever') as ChangedSince;
			const readingFor = (item: number) =>
				readingOf(job.n8n, item, list, since, filtersOf(item) as Query, summary);

			if (since === 'lastRun') return changesOf(job, list, readingFor);
			return async (item) => {
				const reading = readingFor(item);
				if (reading.onePage) return await onePage(job, list, reading);
				const isWhole = reading.limit === undefined && reading.cursor === undefined;
				return await (isWhole ? whole : part)(job, list, reading);
			};
		},
	};
}

const pathOf = ({ resource }: Job) => `/v1${resource.path}`;

/** The whole list, with as many cursors at once as it allows. */
async function whole(job: Job, list: ListDescription, reading: Reading): Promise<IDataObject[]> {
	const { query, cursors } = reading;
	const created = timelineOf({ list, query, cursors })?.field;
	const fields = fieldsAsked(list, reading, ...(created === undefined ? [] : [created]));
	const asked = { path: pathOf(job), list, query: { ...query, ...fields }, cursors };
	return await readAll(job.api.send, asked, output(reading));
}

/** A list up to its limit, from a cursor on, or both. */
async function part(job: Job, list: ListDescription, reading: Reading): Promise<IDataObject[]> {
	const query = { ...reading.query, ...fieldsAsked(list, reading) };
	const records: IDataObject[] = [];
	const asOutput = output(reading);
	for await (const page of pages(job.api.send, { ...reading, path: pathOf(job), list, query })) {
		for (const record of page.records) records.push(asOutput(record));
	}
	return records;
}

/** One page, and where the next one begins: an empty page has this too. */
async function onePage(job: Job, list: ListDescription, reading: Reading): Promise<IDataObject> {
	const query: Query = { ...reading.query, ...fieldsAsked(list, reading) };
	query[list.cursor] = reading.cursor;
	if (list.pageSize) {
		query[list.pageSize.name] = Math.min(reading.limit ?? Infinity, list.pageSize.maximum);
	}
	const { records, next = null, total } = await readPage(job.api.send, pathOf(job), query);
	return {
		records: records.map(output(reading)),
		next_cursor: next,
		...(total !== undefined && { total }),
	};
}

/** What was changed since the last run. */
function changesOf(job: Job, list: ListDescription, readingFor: (item: number) => Reading): Run {
	const by = changed(list);
	const lastRun = lastRunOf(job);
	return lastRun.keepingAfter(async (item) => {
		const reading = readingFor(item);
		const { query, limit, cursor, onePage: isOnePage } = reading;
		const order = list.sort && query[list.sort.name];
		if (isOnePage || cursor !== undefined || order !== undefined) {
			throw new Error(
				'Changed Since Last Run reads changes in their order, up to the newest: it goes without the options Cursor, One Page and Sort. Remove them, or choose Moment.',
			);
		}
		if (!list.sort?.values.includes(by.field)) {
			throw new Error(
				'Changed Since Last Run: the service does not sort records by when they were changed. Choose Moment.',
			);
		}
		const sorted = { [list.sort.name]: by.field, ...fieldsAsked(list, reading, by.field) };
		const asked = { path: pathOf(job), list, changed: by, query: { ...query, ...sorted }, limit };
		const changes = await readChanges(job.api.send, asked, lastRun.markOf(query), output(reading));
		if (changes.mark) lastRun.reached(query, changes.mark);
		return changes.records;
	});
}

const options: INodeProperties = {
	displayName: 'Options',
	name: 'options',
	type: 'collection',
	placeholder: 'Add option',
	default: {},
	options: listOptions,
};
