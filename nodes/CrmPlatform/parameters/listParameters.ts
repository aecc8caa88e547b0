import type { INodeProperties } from 'n8n-workflow';

import { filtersProperty } from './filterParameters';
import { booleanProperty, choiceProperty, dateProperty, listedChoice, numberProperty, textProperty } from './properties';
import { addNamesOption, outputFieldsOption, outputOption, simplifyProperty } from './outputParameters';

/** At 50 ms from the service, five cursors read a large list in a quarter of the time (bench/results/node.md). */
export const defaultCursors = 5;

/** More would leave little of the account's rate limit to other workflows. */
export const maximumCursors = 10;

const returnAll = booleanProperty('Return All', 'returnAll', false, 'Whether to return all results or only up to a given limit');

const limit = numberProperty('Limit', 'limit', 50, {
	typeOptions: { minValue: 1 },
	description: 'Max number of results to return',
	displayOptions: { show: { returnAll: [false] } },
});

/** How many records are read. */
export const amountProperties = [returnAll, limit];

/** The parameters that narrow a list to changed records. */
const changedSinceProperties: INodeProperties[] = [
	choiceProperty('Changed Since', 'changedSince', 'anyTime', [
		['Any Time', 'anyTime', 'Return all records'],
		['Date and Time', 'moment', 'Return records changed at or after a given time'],
	], { description: 'All records, or those changed since a time' }),
	dateProperty('Date and Time', 'moment', {
		required: true,
		description: 'Records changed at this time or later, in the workflow’s time zone',
		displayOptions: { show: { changedSince: ['moment'] } },
	}),
	booleanProperty('Include Deleted', 'includeDeleted', false, 'Whether to also return deleted records, whose deleted_at is set', {
		displayOptions: { show: { changedSince: ['moment'] } },
	}),
];

export const listFilters = filtersProperty({
	displayName: 'Filters',
	name: 'filters',
	description: 'Return only records that match all filters',
});

/** What a list can do; true if absent. */
export interface ListAbilities {
	/** Whether it can be narrowed to the records changed since a time. */
	listsChanges?: boolean;
	sorts?: boolean;
}

/** The parameters of Get Many. */
export const listProperties = ({ listsChanges = true }: ListAbilities): INodeProperties[] => [
	...amountProperties,
	...(listsChanges ? changedSinceProperties : []),
	listFilters,
	simplifyProperty,
];

/** The options of Get Many. */
export const listOptions = ({ sorts = true }: ListAbilities): INodeProperties[] => [
	...options,
	...(sorts ? [sort] : []),
];

const options: INodeProperties[] = [
	addNamesOption,
	outputFieldsOption,
	outputOption,
	textProperty('Cursor', 'cursor', { description: 'The next_cursor of the previous page. Keep the same filters and sort order.' }),
	booleanProperty('One Page', 'onePage', true, 'Whether to return one page as one item: its records, next_cursor and total', {
		noDataExpression: true,
	}),
	numberProperty('Parallel Reads', 'parallelReads', defaultCursors, {
		noDataExpression: true,
		typeOptions: { minValue: 1, maxValue: maximumCursors },
		description: 'How many pages of a list to read at once',
	}),
];

const sort = listedChoice({ displayName: 'Sort Name or ID', name: 'sort', description: 'The order of the records.' }, 'getSortOrders', ['resource', 'kind']);

/** The parameters that choose the records of an export, as in Get Many. */
export const exportListProperties: INodeProperties[] = [...changedSinceProperties, listFilters];

export const exportListOptions: INodeProperties[] = [outputFieldsOption, sort];
