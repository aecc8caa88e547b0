import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import type { Field } from '../api/fields';
import type { ListDescription } from '../api/listing';
import type { Query } from '../api/path';
import { apiValue } from '../mapping/values';
import { chosenFields, simplified } from './simplify';

/** What a user asks of a list for one item. */
export interface Reading {
	/** Collection path with version prefix. */
	path: string;
	list: ListDescription;
	/** Filters and order. */
	query: Query;
	/** How many records are wanted; all where absent. */
	limit?: number;
	/** Where to begin; at the start where absent. */
	cursor?: string;
	/** Whether one page is wanted, with its cursor. */
	onePage: boolean;
	/** How many cursors may read at once. */
	cursors: number;
	/** The fields a record comes out with; all where absent. */
	names?: string[];
}

/** At a distance of 50 ms from the service, a large list takes a quarter of the time (bench/results/node.md). */
export const usualCursors = 5;

interface Options {
	cursor?: string | null;
	onePage?: boolean;
	parallelReads?: number;
	sort?: string;
}

export type ChangedSince = 'ever' | 'lastRun' | 'moment';

/** What a list is and can be asked, and what the user filters by. */
interface Asked {
	/** Collection path with version prefix. */
	path: string;
	list: ListDescription;
	since: ChangedSince;
	filters: Query;
	/** The fields of a simplified record. */
	summary: string[];
}

/**
 * Reads an item's parameters.
 *
 * @throws Error in the user's words for what cannot be meant, and what the service does not offer
 */
export function readingOf(
	n8n: IExecuteFunctions,
	item: number,
	{ path, list, since, filters, summary }: Asked,
): Reading {
	const options = n8n.getNodeParameter('options', item, {}) as Options;
	const query = { ...filters };
	if (options.sort && list.sort) query[list.sort.name] = options.sort;
	const reading: Reading = {
		path,
		list,
		query,
		onePage: options.onePage ?? false,
		cursors: wholeNumber('Parallel Reads', options.parallelReads ?? usualCursors),
	};
	if (options.cursor) reading.cursor = options.cursor;
	if (!n8n.getNodeParameter('returnAll', item)) {
		reading.limit = wholeNumber('Limit', n8n.getNodeParameter('limit', item));
	}
	const chosen = chosenFields(n8n, item);
	if (chosen) reading.names = chosen;
	else if (n8n.getNodeParameter('simplify', item)) reading.names = summary;

	if (since === 'ever') return reading;
	if (since === 'moment') query[changedIn(list).since] = momentOf(n8n, item);
	if (n8n.getNodeParameter('includeDeleted', item, false)) {
		const { field, parameter } = deletedIn(list);
		query[parameter] = true;
		// Among deleted and other records, this tells which is which.
		if (reading.names) reading.names = [...(chosen ?? summary.slice(0, -1)), field];
	}
	return reading;
}

/** What becomes of a record that was read. */
export function output({ names }: Reading): (record: IDataObject) => IDataObject {
	return names ? (record) => simplified(record, names) : (record) => record;
}

/**
 * The reading with the fields it needs, where the service lets one choose: asking for less is
 * faster than throwing away.
 *
 * @param needed a field that is needed for reading, and perhaps not put out
 */
export function asking(reading: Reading, needed?: string): Reading {
	const { list, names, query } = reading;
	if (!names || list.fields === undefined) return reading;
	const fields = [...new Set([...names, ...(needed === undefined ? [] : [needed])])];
	return { ...reading, query: { ...query, [list.fields]: fields } };
}

/** @throws Error in the user's words where the service cannot be asked for changes */
export function changedIn({ changed }: ListDescription): NonNullable<ListDescription['changed']> {
	if (changed) return changed;
	throw new Error(
		'Changed Since: the service does not list records by when they were changed. Choose Ever, and filter what you need.',
	);
}

function deletedIn({ deleted }: ListDescription): NonNullable<ListDescription['deleted']> {
	if (deleted) return deleted;
	throw new Error('Include Deleted: the service does not list deleted records. Turn it off.');
}

const momentField: Field = {
	name: 'moment',
	path: ['moment'],
	label: 'Moment',
	description: '',
	kind: 'dateTime',
	required: true,
};

function momentOf(n8n: IExecuteFunctions, item: number): string {
	const given: unknown = n8n.getNodeParameter('moment', item, '');
	const value = apiValue(momentField, given, n8n.getTimezone());
	if (typeof value === 'string') return value;
	throw new Error('Moment: it is empty. Give the moment from which on changes are wanted.');
}

function wholeNumber(label: string, given: unknown): number {
	const number = Math.floor(Number(given));
	if (number >= 1) return number;
	throw new Error(`${label}: it takes a number from 1 on, not '${String(given)}'.`);
}
