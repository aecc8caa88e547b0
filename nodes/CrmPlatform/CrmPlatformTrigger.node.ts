import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type ITriggerFunctions,
	type ITriggerResponse,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';

import { getOwners, getPipelines } from './pickers/eventFilters';
import { getFilterChoices, getFilterFields, getFilterOperators } from './pickers/filterPickers';
import { getChangedFields } from './pickers/getChangedFields';
import { getEvents } from './pickers/getEvents';
import { searchLinked } from './pickers/linkPickers';
import { getStages } from './pickers/stages';
import { testCredential } from './pickers/testCredential';
import { authentication, credentials } from './actionProperties';
import { eventProperties } from './trigger/eventProperties';
import { receive } from './trigger/webhook/receive';
import { subscriptionLifecycle } from './trigger/webhook/lifecycle';
import { webhookProperties } from './trigger/webhook/webhookProperties';
import { watchSubscription } from './trigger/webhook/subscriptionWatch';

export class CrmPlatformTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'CRM Platform Trigger',
		name: 'crmPlatformTrigger',
		icon: {
			light: 'file:../../icons/crm-platform.svg',
			dark: 'file:../../icons/crm-platform.dark.svg',
		},
		group: ['trigger'],
		// n8n evaluates an expression for each delivery to a node of version 1 (webhook-helpers,
		// parseRequestBody), which takes longer than everything else it does with one.
		version: 2,
		subtitle: '={{ $parameter["events"].join(", ") }}',
		// n8n 2.41 also shows this text for the action node: its list has one entry for both.
		description: 'Work with contacts, deals, tickets and other CRM Platform records, or start workflows within seconds of an event. The trigger needs a public URL.',
		defaults: { name: 'CRM Platform Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials,
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				responseMode: 'onReceived',
				responseData: 'noData',
				path: 'webhook',
			},
		],
		properties: [authentication, ...eventProperties, ...webhookProperties],
	};

	methods = {
		credentialTest: { testCredential },
		listSearch: { searchLinked },
		loadOptions: {
			getChangedFields,
			getEvents,
			getFilterChoices,
			getFilterFields,
			getFilterOperators,
			getOwners,
			getPipelines,
			getStages,
		},
	};

	webhookMethods = { default: subscriptionLifecycle };

	/** Runs beside the webhook, so that a subscription that was deleted or changed in the CRM is noticed. */
	async trigger(this: ITriggerFunctions): Promise<ITriggerResponse> {
		return watchSubscription(this);
	}

	/** Without this method, n8n would call `trigger` in a test run instead of using the event (workflow-execute, runNode). */
	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		return [this.getInputData()];
	}

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await receive(this);
	}
}
