import type { INodeProperties } from 'n8n-workflow';

import { filterOperators, isRange, type FilterOperator } from '../api/openapi/filterOperators';
import { addNamesOption, outputFieldsOption, outputOption, simplifyProperty } from './outputParameters';
import { booleanProperty, choiceProperty, dateProperty, listedChoice, numberProperty, rowsProperty, textProperty } from './properties';
import { fieldsDependOn, linkedPicker } from './recordParameters';

/** At 50 ms from the service, five cursors read a large list in a quarter of the time (bench/results/node.md). */
export const defaultCursors = 5;

/** More would leave little of the account's rate limit to other workflows. */
export const maximumCursors = 10;

export const amountProperties = [
	booleanProperty('Return All', 'returnAll', false, 'Whether to return all results or only up to a given limit'),
	numberProperty('Limit', 'limit', 50, {
		typeOptions: { minValue: 1 },
		description: 'Max number of results to return',
		displayOptions: { show: { returnAll: [false] } },
	}),
];

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

const shownFor = (isShown: (operator: FilterOperator) => boolean): Pick<INodeProperties, 'displayOptions'> => ({
	displayOptions: { show: { operator: filterOperators.filter(isShown).map(({ value }) => value) } },
});

/** In alphabetical order, as n8n's verification demands for five or more. A row shows at most four. */
const values: INodeProperties[] = [
	listedChoice({ displayName: 'Field Name or ID', name: 'field' }, 'getFilterFields', fieldsDependOn),
	listedChoice({ displayName: 'Operator Name or ID', name: 'operator', default: 'is' }, 'getFilterOperators', [...fieldsDependOn, '&field']),
	{ ...linkedPicker, ...shownFor(({ takes }) => takes === 'record') },
	textProperty('Value', 'value', {
		placeholder: 'e.g. Customer, Acme Inc., ada@acme.example',
		description: 'Choices and records can be given by name. With Is One Of, separate values with commas.',
		...shownFor(({ takes }) => takes === 'values'),
	}),
	dateProperty('Value (Date)', 'date', {
		typeOptions: { dateOnly: true },
		description: 'A day, or a time such as {{ $now.minus({ hours: 1 }) }}',
		...shownFor(({ takes }) => takes === 'dates'),
	}),
	textProperty('Value (Maximum)', 'secondValue', {
		description: 'The largest value that matches',
		...shownFor((operator) => operator.takes === 'values' && isRange(operator)),
	}),
	dateProperty('Value (Until)', 'secondDate', {
		typeOptions: { dateOnly: true },
		description: 'The last day that matches',
		...shownFor((operator) => operator.takes === 'dates' && isRange(operator)),
	}),
	listedChoice(
		{ displayName: 'Value Names or IDs', name: 'choices', ...shownFor(({ takes }) => takes === 'choices') },
		'getFilterChoices',
		[...fieldsDependOn, '&field'],
	),
];

const join = choiceProperty('And / Or', 'join', 'and', [
	['And', 'and'],
	['Or', 'or', 'Begin another group: records must match all rows of one group'],
]);

/** Rows of a field, an operator and a value; the service says which of the first two there are. @param joins whether rows can be joined by Or */
export const filtersProperty = (property: Pick<INodeProperties, 'displayName' | 'name' | 'description'>, joins = true): INodeProperties =>
	rowsProperty(
		{ ...property, placeholder: 'Add filter' },
		{ displayName: 'Filter', name: 'rows', values: joins ? [join, ...values] : values },
	);

export const listFilters = filtersProperty({
	displayName: 'Filters',
	name: 'filters',
	description: 'Return only records that match all filters',
});

/** What a list can do; true if absent. */
export interface ListAbilities {
	listsChanges?: boolean;
	sorts?: boolean;
}

export const listProperties = ({ listsChanges = true }: ListAbilities): INodeProperties[] => [
	...amountProperties,
	...(listsChanges ? changedSinceProperties : []),
	listFilters,
	simplifyProperty,
];

export const listOptions = ({ sorts = true }: ListAbilities): INodeProperties[] => (sorts ? [...options, sort] : options);

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

const sort = listedChoice(
	{ displayName: 'Sort Name or ID', name: 'sort', description: 'The order of the records.' },
	'getSortOrders',
	['resource', 'kind'],
);

export const exportListProperties: INodeProperties[] = [...changedSinceProperties, listFilters];

export const exportListOptions: INodeProperties[] = [outputFieldsOption, sort];
