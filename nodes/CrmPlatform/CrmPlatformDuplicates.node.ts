import { NodeConnectionTypes, type IExecuteFunctions, type INodeExecutionData, type INodeType, type INodeTypeDescription } from 'n8n-workflow';

import { credentials, icon, propertiesOf } from './actionProperties';
import { editorMethods } from './pickers/editorMethods';
import { execute } from './execute';
import { duplicateTypes } from './resources';

export class CrmPlatformDuplicates implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'CRM Platform Duplicates',
		name: 'crmPlatformDuplicates',
		icon,
		group: ['transform'],
		version: 1,
		subtitle: '={{ $parameter["operation"] + ": " + $parameter["resource"] }}',
		description: 'Find duplicates among contacts, companies and custom object records of CRM Platform, and merge them',
		defaults: { name: 'CRM Platform Duplicates' },
		usableAsTool: true,
		builderHint: { searchHint: 'Merge takes the groups that Find returns. With preview it only says what it would do; Undo of CRM Platform takes it back.' },
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials,
		properties: propertiesOf(duplicateTypes),
	};

	methods = editorMethods;

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await execute(this, { offered: duplicateTypes });
	}
}
