import type { INodeProperties } from 'n8n-workflow';

import { outputOption } from './outputParameters';

export const batchSizeOption: INodeProperties = {
	displayName: 'Batch Size',
	name: 'batchSize',
	type: 'number',
	typeOptions: { minValue: 0 },
	default: 0,
	description: 'Items per request. 0 is as many as the CRM allows, 1 sends each separately.',
};

/** Options of operations that write in batches. */
export const batchOptions: INodeProperties[] = [batchSizeOption, outputOption];
