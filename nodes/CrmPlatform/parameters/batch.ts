import type { INodeProperties } from 'n8n-workflow';

/** Options of operations that write in batches. */
export const batchOptions: INodeProperties[] = [
	{
		displayName: 'Batch Size',
		name: 'batchSize',
		type: 'number',
		typeOptions: { minValue: 0 },
		default: 0,
		description:
			'How many items are written with one request. 0 takes as many as the service allows, 1 sends a request for each item, one after another.',
	},
];
