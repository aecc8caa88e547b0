import {
	NodeConnectionTypes,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type IPollFunctions,
} from 'n8n-workflow';

import { getOwners, getPipelines } from './pickers/eventFilters';
import { getEvents } from './pickers/getEvents';
import { getStages } from './pickers/stages';
import { testCredential } from './pickers/testCredential';
import { authentication } from './properties';
import { eventProperties } from './trigger/eventProperties';
import { poll } from './trigger/poll/poll';
import { pollProperties } from './trigger/poll/properties';

export class CrmPlatformPollTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'CRM Platform Poll Trigger',
		name: 'crmPlatformPollTrigger',
		icon: {
			light: 'file:../../icons/crm-platform.svg',
			dark: 'file:../../icons/crm-platform.dark.svg',
		},
		group: ['trigger'],
		version: 1,
		subtitle: '={{ $parameter["events"].join(", ") }}',
		description:
			'Starts the workflow when something happens in a CRM Platform account, also where n8n has no public address',
		defaults: { name: 'CRM Platform Poll Trigger' },
		polling: true,
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials: [
			{
				name: 'crmPlatformApi',
				required: true,
				testedBy: 'testCredential',
				displayOptions: { show: { authentication: ['apiKey'] } },
			},
			{
				name: 'crmPlatformOAuth2Api',
				required: true,
				displayOptions: { show: { authentication: ['oAuth2'] } },
			},
		],
		properties: [authentication, ...eventProperties, ...pollProperties],
	};

	methods = {
		credentialTest: { testCredential },
		loadOptions: { getEvents, getOwners, getPipelines, getStages },
	};

	async poll(this: IPollFunctions): Promise<INodeExecutionData[][] | null> {
		return await poll(this);
	}
}
