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
			'How many items to write per request. 0 writes as many as the service allows; 1 writes the items one after another.',
	},
];
