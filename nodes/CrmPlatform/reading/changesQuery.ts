import type { IExecuteFunctions } from 'n8n-workflow';

import type { ListDescription } from '../api/openapi/listing';
import type { Query } from '../api/http/path';
import { instant } from '../values/dates';
import { readBoolean, readDate, readOption } from '../values/readers';

/** The query of a list for changes. */
interface ChangesQuery {
	query: Query;
	/** The field with the time of deletion, if deleted records are included. */
	deletedField?: string;
}

/**
 * Reads an item's Changed Since.
 *
 * @param filters of the user
 * @throws Error in the user's words if the service does not list changes or deleted records, if a filter has the same
 * parameter, or if the time is missing or invalid
 */
export function changesQuery(
	n8n: IExecuteFunctions,
	item: number,
	list: ListDescription,
	filters: Query,
): ChangesQuery {
	// The choice has no expressions: it is the same for all items.
	const choice: unknown = n8n.getNodeParameter('changedSince', item, 'anyTime');
	if (readOption('Changed Since', choice, ['anyTime', 'moment']) === 'anyTime') return { query: {} };
	const query = { [changesParameter(list, filters)]: momentOf(n8n, item) };
	if (!readBoolean('Include Deleted', n8n.getNodeParameter('includeDeleted', item, false))) return { query };
	const { deleted } = list;
	if (deleted) return { query: { ...query, [deleted.parameter]: true }, deletedField: deleted.field };
	throw new Error('Include Deleted: the CRM does not list deleted records. Turn this off.');
}

function changesParameter({ changed, filters: listFilters }: ListDescription, filters: Query): string {
	if (!changed) {
		throw new Error(
			'Changed Since: the CRM cannot list this resource by time of change. Choose Any Time.',
		);
	}
	if (filters[changed.since] === undefined) return changed.since;
	const label = listFilters.find(({ name }) => name === changed.since)?.label ?? changed.since;
	throw new Error(
		`Changed Since and the filter ${label} do the same. Remove the filter, or set Changed Since to Any Time.`,
	);
}

function momentOf(n8n: IExecuteFunctions, item: number): string {
	const value: unknown = n8n.getNodeParameter('moment', item, '');
	return String(instant(readDate('Date and Time', value, { zone: n8n.getTimezone() })));
}
