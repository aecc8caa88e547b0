import {
	type IExecuteFunctions, type INodeExecutionData, type INodeProperties, type INodeType, type INodeTypeDescription,
	type ITriggerFunctions, type ITriggerResponse, type IWebhookFunctions, type IWebhookResponseData, NodeConnectionTypes,
} from 'n8n-workflow';

import { authentication, credentials, icon } from './actionProperties';
import { editorMethods } from './pickers/editorMethods';
import { booleanProperty, numberProperty, optionsCollection } from './parameters/properties';
import { addNamesOption } from './parameters/outputParameters';
import { eventProperties } from './trigger/eventProperties';
import { acceptedStatus } from './trigger/webhook/backlog';
import { receive } from './trigger/webhook/receive';
import { subscriptionLifecycle } from './trigger/webhook/lifecycle';
import { watchSubscription } from './trigger/webhook/subscriptionWatch';

export class CrmPlatformTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'CRM Platform Trigger',
		name: 'crmPlatformTrigger',
		icon,
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
				// n8n's type allows only texts, and Express only numbers.
				responseCode: acceptedStatus as unknown as string,
				responseData: 'noData',
				path: 'webhook',
			},
		],
		properties: [authentication, ...eventProperties, ...webhookProperties],
	};

	methods = editorMethods;

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

export const webhookProperties: INodeProperties[] = [
	booleanProperty('Recover Missed Events', 'recover', true, 'Whether to catch up on events that occurred while the workflow was inactive or n8n was down, one by one and in order'),
	numberProperty('Maximum Age (Hours)', 'recoverHours', 24, {
		typeOptions: { minValue: 1, maxValue: 720 },
		displayOptions: { show: { recover: [true] } },
		description: 'How old a missed event may be to still start the workflow',
	}),
	optionsCollection([
		addNamesOption,
		booleanProperty('Test Events', 'testEvents', false, 'Whether test events of the CRM also start the workflow'),
	]),
];
