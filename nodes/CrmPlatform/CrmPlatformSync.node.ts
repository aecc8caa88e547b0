import { NodeConnectionTypes, type IExecuteFunctions, type INodeExecutionData, type INodeType, type INodeTypeDescription } from 'n8n-workflow';

import { credentials, icon } from './actionProperties';
import { editorMethods } from './pickers/editorMethods';
import { resources } from './resources';
import { syncHint, syncPropertiesOf } from './sync/settings';
import { outputNames, synchronize } from './sync/synchronize';

export class CrmPlatformSync implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'CRM Platform Sync',
		name: 'crmPlatformSync',
		icon,
		group: ['transform'],
		version: 1,
		subtitle: '={{ ($parameter["preview"] ? "preview: " : "sync: ") + $parameter["resource"] }}',
		description: 'Keep the records of a CRM Platform account in sync with a table, a spreadsheet or another system',
		defaults: { name: 'CRM Platform Sync' },
		// Otherwise, n8n would name the node after its hidden operation: Upsert contact.
		skipNameGeneration: true,
		usableAsTool: true,
		builderHint: syncHint,
		inputs: [NodeConnectionTypes.Main],
		outputs: outputNames.map(() => NodeConnectionTypes.Main),
		outputNames: [...outputNames],
		credentials,
		properties: syncPropertiesOf(resources),
	};

	methods = editorMethods;

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await synchronize(this);
	}
}
