import type { INodeProperties } from 'n8n-workflow';

import type { Resource } from '../model';
import { mapperProperty } from './fields';
import { linkedProperty } from './linkedRecords';
import { outputFieldsOption, simplifyProperty } from './output';

/** At a distance of 50 ms from the service, a large list takes a quarter of the time (bench/results/node.md). */
export const defaultCursors = 5;

/** More would leave little of the plan to other workflows. */
export const maximumCursors = 10;

const returnAll: INodeProperties = {
	displayName: 'Return All',
	name: 'returnAll',
	type: 'boolean',
	default: false,
	description: 'Whether to return all results or only up to a given limit',
};

const limit: INodeProperties = {
	displayName: 'Limit',
	name: 'limit',
	type: 'number',
	typeOptions: { minValue: 1 },
	default: 50,
	description: 'Max number of results to return',
	displayOptions: { show: { returnAll: [false] } },
};

const filters = mapperProperty(
	{
		displayName: 'Filters',
		name: 'filters',
		description: 'Only records that meet all of them; none means every record',
	},
	{
		mode: 'add',
		resourceMapperMethod: 'getFilters',
		valuesLabel: 'Filters',
		fieldWords: { singular: 'filter', plural: 'filters' },
		addAllFields: false,
		supportAutoMap: false,
	},
);

const changedSince: INodeProperties = {
	displayName: 'Changed Since',
	name: 'changedSince',
	type: 'options',
	noDataExpression: true,
	default: 'ever',
	description: 'Which records to read, by when they were last changed',
	options: [
		{ name: 'Ever', value: 'ever', description: 'All records' },
		{
			name: 'Last Run',
			value: 'lastRun',
			description:
				'What was changed since the last successful run of this node in the active workflow, each record once. The first run reads all.',
		},
		{ name: 'Moment', value: 'moment', description: 'What was changed at a moment or later' },
	],
};

const moment: INodeProperties = {
	displayName: 'Moment',
	name: 'moment',
	type: 'dateTime',
	default: '',
	required: true,
	description: 'Changes from this moment on, in the time zone of the workflow',
	displayOptions: { show: { changedSince: ['moment'] } },
};

const includeDeleted: INodeProperties = {
	displayName: 'Include Deleted',
	name: 'includeDeleted',
	type: 'boolean',
	default: false,
	description: 'Whether to return deleted records as well, which say when they were deleted',
	displayOptions: { show: { changedSince: ['lastRun', 'moment'] } },
};

const filtersLinked = linkedProperty({
	displayName: 'Linked Records',
	name: 'filtersLinked',
	description:
		'Only records that refer to these, such as the contacts of a company. They go before what is given for the same filter above.',
});

/** What a list asks for. */
export const listProperties = ({ isLinked = false }: Resource): INodeProperties[] => [
	returnAll,
	limit,
	changedSince,
	moment,
	includeDeleted,
	filters,
	...(isLinked ? [filtersLinked] : []),
	simplifyProperty,
];

/** What a list offers beyond. */
export const listOptions: INodeProperties[] = [
	outputFieldsOption,
	{
		displayName: 'Cursor',
		name: 'cursor',
		type: 'string',
		default: '',
		description:
			'Where to go on: the next_cursor of the page before, read with the same filters. Empty begins at the start.',
	},
	{
		displayName: 'One Page',
		name: 'onePage',
		type: 'boolean',
		default: true,
		description:
			'Whether to read one page only, as one item with its records, the next_cursor (null after the last page) and the total. For loops that read a list page by page.',
	},
	{
		displayName: 'Parallel Reads',
		name: 'parallelReads',
		type: 'number',
		typeOptions: { minValue: 1, maxValue: maximumCursors },
		default: defaultCursors,
		description:
			'How many pages of a large list are read at once with Return All; 1 reads one after the other. It needs a list in the order of creation, which is the usual one.',
	},
	{
		displayName: 'Sort Name or ID',
		name: 'sort',
		type: 'options',
		typeOptions: { loadOptionsMethod: 'getSortOrders', loadOptionsDependsOn: ['resource'] },
		default: '',
		description:
			'The order of the records. Choose from the list, or specify an ID using an <a href="https://docs.n8n.io/code/expressions/">expression</a>.',
	},
];
