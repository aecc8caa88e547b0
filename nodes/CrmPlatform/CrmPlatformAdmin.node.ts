import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';

import { execute } from './execute';
import { withReasons } from './pickers/editorContext';
import { getFields, getMatchFields } from './pickers/mapperFields';
import { filterPickers } from './pickers/filterPickers';
import { getOutputFields, getSortOrders } from './pickers/listOptions';
import { searchLinked, searchRecords, searchWebhooks } from './pickers/searchPickers';
import { testCredential } from './pickers/testCredential';
import { credentials, icon, propertiesOf } from './actionProperties';
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

	methods = {
		credentialTest: { testCredential },
		listSearch: { searchLinked, searchRecords, searchWebhooks },
		loadOptions: withReasons({
			...filterPickers,
			getMatchFields,
			getOutputFields,
			getSortOrders,
		}),
		resourceMapping: { getFields },
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await execute(this);
	}
}
