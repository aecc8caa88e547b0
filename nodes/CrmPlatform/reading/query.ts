import type { IDataObject } from 'n8n-workflow';

import type { ListDescription, RecordField } from '../api/openapi/listing';
import type { Query } from '../api/http/path';
import type { Execution } from '../model';
import { defaultCursors, maximumCursors } from '../parameters/list';
import { changedIn, deletedIn, momentOf, type ChangedSince } from '../parameters/changedSince';
import {
	chosenFields,
	outputField,
	simplify,
	summaryFields,
	type OutputField,
} from './simplify';

/** What a user asks of a list for one item. */
export interface ListQuery {
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
	/** What comes out of a record; all of it where absent. */
	fields?: OutputField[];
}

interface Options {
	cursor?: string | null;
	onePage?: boolean;
	parallelReads?: number;
	sort?: string;
}

/** What a list is and can be asked, and what the user filters by. */
interface Asked {
	/** Collection path with version prefix. */
	path: string;
	list: ListDescription;
	since: ChangedSince;
	filters: Query;
	/** The fields of a record, and of a simplified one. */
	fields: RecordField[];
	summary: string[];
}

/**
 * Reads an item's parameters.
 *
 * @throws Error in the user's words for what cannot be meant, and what the service does not offer
 */
export function listQueryOf(
	job: Execution,
	item: number,
	{ path, list, since, filters, fields, summary }: Asked,
): ListQuery {
	const { n8n } = job;
	const options = n8n.getNodeParameter('options', item, {}) as Options;
	const query = { ...filters };
	if (options.sort && list.sort) query[list.sort.name] = options.sort;
	const reading: ListQuery = {
		path,
		list,
		query,
		onePage: options.onePage ?? false,
		cursors: wholeNumber('Parallel Reads', options.parallelReads ?? defaultCursors, maximumCursors),
	};
	if (options.cursor) reading.cursor = options.cursor;
	if (!n8n.getNodeParameter('returnAll', item)) {
		reading.limit = wholeNumber('Limit', n8n.getNodeParameter('limit', item));
	}
	const chosen = chosenFields(job, item, fields);
	const output = chosen ?? summaryFields(n8n, item, summary);
	if (output) reading.fields = output;

	if (since === 'ever') return reading;
	const changed = changedIn(list, filters);
	if (since === 'moment') query[changed.since] = momentOf(n8n, item);
	if (n8n.getNodeParameter('includeDeleted', item, false)) {
		const { field, parameter } = deletedIn(list);
		query[parameter] = true;
		// Among deleted and other records, this tells which is which.
		if (output) reading.fields = [...(chosen ?? output.slice(0, -1)), outputField(field)];
	}
	return reading;
}

/** What becomes of a record that was read. */
export function recordOutput({ fields }: ListQuery): (record: IDataObject) => IDataObject {
	return fields ? (record) => simplify(record, fields) : (record) => record;
}

/**
 * The reading with the fields it needs, where the service lets one choose: asking for less is
 * faster than throwing away.
 *
 * @param needed fields that are needed for reading, and perhaps not put out
 */
export function withNeededFields(reading: ListQuery, needed: string[] = []): ListQuery {
	const { list, fields, query } = reading;
	if (!fields || list.fields === undefined) return reading;
	const names = new Set([...fields.map(({ path: [name] }) => name), ...needed]);
	return { ...reading, query: { ...query, [list.fields]: [...names] } };
}

function wholeNumber(label: string, given: unknown, most = Infinity): number {
	const number = Math.floor(Number(given));
	if (number >= 1 && number <= most) return number;
	const upTo = most === Infinity ? 'on' : `to ${most}`;
	throw new Error(`${label}: it takes a number from 1 ${upTo}, not '${String(given)}'.`);
}
