import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import type { ResourceDescription } from '../api/openapi/description';
import type { ListDescription } from '../api/openapi/listing';
import type { Collection, Query } from '../api/http/path';
import type { NodeRun, OutputField } from '../model';
import { withFields } from '../lookUp/lookUp';
import { defaultCursors, maximumCursors } from '../parameters/listParameters';
import { instant } from '../values/dates';
import { parseBoolean, parseDate, parseOption, parseWholeNumber } from '../values/parsers';
import { outputField, outputFieldsOf, simplify } from './simplify';
import { isSummary } from '../parameters/outputParameters';

/** The user's list query for an item. */
export interface ListQuery {
	path: Collection;
	list: ListDescription;
	/** Filters and order. */
	query: Query;
	/** The maximum number of records; all if absent. */
	limit?: number;
	/** Where to begin; at the start if absent. */
	cursor?: string;
	/** Whether to output a single page, with its cursor. */
	isOnePage: boolean;
	/** The maximum number of concurrent cursors. */
	cursors: number;
	/** The output fields; whole records if absent. */
	fields?: OutputField[];
	/** The names of the fields of records; empty if the service does not describe them. */
	recordFields: string[];
}

/**
 * Reads an item's parameters.
 *
 * @param described the list with the user's filters, the fields of a record, and the names of those of a simplified one
 * @throws Error in the user's words for invalid values, and for options that the service does not support
 */
export async function listQueryOf(
	run: NodeRun,
	item: number,
	described: Pick<ListQuery, 'path' | 'list'> & Pick<ResourceDescription, 'fields' | 'summary'> & { filters: Query },
): Promise<ListQuery> {
	const { n8n } = run;
	const { path, list, filters, fields } = described;
	const { cursor, onePage, parallelReads, sort } = n8n.getNodeParameter('options', item, {}) as
		{ cursor?: string | null; onePage?: unknown; parallelReads?: unknown; sort?: string };
	const { changes, deletedField } = changesQuery(run, item, list, filters);
	if (sort && !list.sort) throw new Error('Sort: the CRM cannot sort this list. Remove the option.');
	const isOnePage = parseBoolean('One Page', onePage, { otherwise: false });
	if (isOnePage && isSummary(n8n)) {
		throw new Error('One Page: a summary leaves out the records and next_cursor. Remove one of the options One Page and Return.');
	}
	const limit = limitOf(n8n, item);
	const output = await outputFieldsOf(run, item, described);
	// It distinguishes deleted records from others.
	const marks = deletedField === undefined ? [] : [outputField(deletedField)];
	return {
		path,
		list,
		query: { ...filters, ...changes, ...(sort && { [list.sort!.name]: sort }) },
		isOnePage,
		cursors: parseWholeNumber('Parallel Reads', parallelReads, { min: 1, max: maximumCursors, otherwise: defaultCursors }),
		recordFields: fields.map(({ name }) => name),
		...(cursor && { cursor }),
		...(limit !== undefined && { limit }),
		...(output && { fields: [...output, ...marks] }),
	};
}

/**
 * Reads an item's Changed Since: its filters, and the field with the time of deletion if deleted records are included.
 *
 * @throws Error in the user's words if the service does not list changes or deleted records, if a filter has the same
 * parameter, or if the time is missing or invalid
 */
function changesQuery(
	{ n8n, api }: NodeRun, item: number, list: ListDescription, filters: Query,
): { changes?: Query; deletedField?: string } {
	const { changed, deleted } = list;
	// The choice has no expressions: it is the same for all items.
	const choice: unknown = n8n.getNodeParameter('changedSince', item, 'anyTime');
	if (parseOption('Changed Since', choice, ['anyTime', 'moment']) === 'anyTime') return {};
	const moment = parseDate('Date and Time', n8n.getNodeParameter('moment', item, ''), { zone: n8n.getTimezone() });
	if (!changed) throw new Error('Changed Since: the CRM cannot list this resource by time of change. Choose Any Time.');
	if (filters[changed.since] !== undefined) {
		const label = list.filters.find(({ name }) => name === changed.since)?.label ?? changed.since;
		throw new Error(`Changed Since and the filter ${label} do the same. Remove the filter, or set Changed Since to Any Time.`);
	}
	const includesDeleted = parseBoolean('Include Deleted', n8n.getNodeParameter('includeDeleted', item, false));
	if (includesDeleted && !deleted) throw new Error('Include Deleted: the CRM does not list deleted records. Turn this off.');
	api.requireDescription('Changed Since');
	const changes: Query = { [changed.since]: String(instant(moment)) };
	return includesDeleted ? { changes: { ...changes, [deleted!.parameter]: true }, deletedField: deleted!.field } : { changes };
}

/** The maximum number of records; undefined for all. @throws Error in the user's words for an invalid value */
export const limitOf = (n8n: IExecuteFunctions, item: number): number | undefined =>
	parseBoolean('Return All', n8n.getNodeParameter('returnAll', item, true))
		? undefined
		: parseWholeNumber('Limit', n8n.getNodeParameter('limit', item), { min: 1 });

export const recordOutput = ({ fields }: ListQuery) => (record: IDataObject): IDataObject => (fields ? simplify(record, fields) : record);

/**
 * Requests only the necessary fields, if the service supports that, which is faster than discarding others.
 *
 * @param needed fields that reading needs, whether or not they are output
 */
export function withNeededFields(listQuery: ListQuery, needed: string[] = []): ListQuery {
	const { list, fields, query } = listQuery;
	return fields ? { ...listQuery, query: withFields(list, query, [...fields.map(({ path: [name] }) => name), ...needed]) } : listQuery;
}
