import { NodeConnectionTypes, type IExecuteFunctions, type INodeExecutionData, type INodeType, type INodeTypeDescription } from 'n8n-workflow';

import { execute } from './execute';
import { credentials, icon, propertiesOf } from './actionProperties';
import { editorMethods } from './pickers/editorMethods';
import { adminHint } from './builderHints';
import { maxAnswerLength } from './parameters/outputParameters';
import { adminMenu } from './resources';

export class CrmPlatformAdmin implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'CRM Platform Admin',
		name: 'crmPlatformAdmin',
		icon,
		group: ['input'],
		version: 1,
		subtitle: '={{ ($parameter["operation"].replace("upsert", "createOrUpdate") + ": " + $parameter["resource"]).replace(/[A-Z]+/g, " $&").toLowerCase() }}',
		description: 'Set up and monitor a CRM Platform account: custom fields, pipelines, users, webhooks, jobs, any API request',
		defaults: { name: 'CRM Platform Admin' },
		usableAsTool: true,
		builderHint: adminHint,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		credentials,
		properties: [...propertiesOf(adminMenu, 'customField'), maxAnswerLength],
	};

	methods = editorMethods;

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await execute(this);
	}
}
