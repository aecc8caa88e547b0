import type { IDataObject, INodeProperties } from 'n8n-workflow';

import type { ListDescription } from '../api/listing';
import { pages, type Walk } from '../api/pages';
import type { Query } from '../api/path';
import { filtersOf } from '../mapping/filters';
import type { Job, Operation } from '../model';
import { mapperProperty } from './fieldsProperty';
import { offered } from './offered';
import { collectionPath } from './record';
import { simplified, simplifyProperty } from './simplify';

/** @param action what n8n's list of actions says, such as `Get many contacts` */
export function getMany(action: string): Operation {
	return {
		option: {
			name: 'Get Many',
			value: 'getMany',
			action,
			description: 'Read a list of records, filtered and sorted',
		},

		properties: () => [returnAll, limit, filters, simplifyProperty],
		options,

		async prepare(job) {
			const list = await offered(job, 'list');
			const summary = await offered(job, 'summary');
			const read = await filtersOf(job, 'filters', list);
			return async (item) => {
				const simple = job.n8n.getNodeParameter('simplify', item) as boolean;
				const query: Query = { ...(read(item) as Query), ...sortOf(job, list, item) };
				// Asking for less is faster than throwing away.
				if (simple && list.fields !== undefined) query[list.fields] = summary;
				const walk: Walk = { path: collectionPath(job, item), list, query, ...limitOf(job, item) };

				const records: IDataObject[] = [];
				for await (const page of pages(job.api.send, walk)) {
					for (const record of page.records)
						records.push(simple ? simplified(record, summary) : record);
				}
				return records;
			};
		},
	};
}

function limitOf({ n8n }: Job, item: number): { limit?: number } {
	if (n8n.getNodeParameter('returnAll', item)) return {};
	const limit = Number(n8n.getNodeParameter('limit', item));
	if (limit >= 1) return { limit: Math.floor(limit) };
	throw new Error(`Limit: it takes a number from 1 on, not '${limit}'.`);
}

function sortOf({ n8n }: Job, list: ListDescription, item: number): Query {
	const { sort } = n8n.getNodeParameter('options', item, {}) as { sort?: string };
	return sort && list.sort ? { [list.sort.name]: sort } : {};
}

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

const options: INodeProperties[] = [
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
