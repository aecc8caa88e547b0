import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
} from 'n8n-workflow';

import { credentials, icon } from './actionProperties';
import { withReasons } from './pickers/editorContext';
import { filterPickers } from './pickers/filterPickers';
import { getLinks, searchCustomObjects, searchLinked } from './pickers/searchPickers';
import { getFieldsToSet, getSyncFields, getSyncMatchFields, getSyncOtherMatchFields } from './pickers/mapperFields';
import { testCredential } from './pickers/testCredential';
import { resources } from './resources';
import { syncHint, syncPropertiesOf } from './sync/syncProperties';
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

	methods = {
		credentialTest: { testCredential },
		listSearch: { searchCustomObjects, searchLinked },
		loadOptions: withReasons({
			...filterPickers,
			getLinks,
			getSyncMatchFields,
			getSyncOtherMatchFields,
		}),
		resourceMapping: { getFieldsToSet, getSyncFields },
	};

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return await synchronize(this);
	}
}
