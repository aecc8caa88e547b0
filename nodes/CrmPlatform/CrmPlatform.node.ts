import {
	NodeConnectionTypes,
	type IExecuteFunctions,
	type INodeExecutionData,
	type INodeType,
	type INodeTypeDescription,
	type IWebhookFunctions,
	type IWebhookResponseData,
} from 'n8n-workflow';

import { reviewCall } from './toolkit/reviewedCall';
import { approvalWebhooks, receiveDecision } from './approval/decision';
import { execute } from './execute';
import { icon, propertiesOf } from './actionProperties';
import { editorMethods } from './pickers/editorMethods';
import { maxAnswerLength } from './parameters/outputParameters';
import { everydayHint } from './builderHints';
import { everydayMenu } from './resources';

export class CrmPlatform implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'CRM Platform',
		name: 'crmPlatform',
		icon,
		group: ['input'],
		version: 1,
		subtitle: '={{ ($parameter["operation"].replace("upsert", "createOrUpdate") + ": " + (["file", "recordTag"].includes($parameter["resource"]) && $parameter["kind"] || $parameter["resource"])).replace(/[A-Z]+/g, " $&").toLowerCase() }}',
		description: 'Create, read, update and delete contacts, deals, tickets and other CRM Platform records; import and export files',
		defaults: { name: 'CRM Platform' },
		usableAsTool: true,
		builderHint: everydayHint,
		inputs: [NodeConnectionTypes.Main],
		outputs: [NodeConnectionTypes.Main],
		// The same as `credentials` in actionProperties, written out because n8n's verification looks for `testedBy` in the
		// source of a node; a test compares the two.
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
		// For Send and Wait for Approval. n8n offers a node with such webhooks as a human review.
		webhooks: approvalWebhooks,
		waitingNodeTooltip: 'The execution continues when the task is completed or deleted',
		properties: [...propertiesOf(everydayMenu), maxAnswerLength],
	};

	methods = editorMethods;

	async webhook(this: IWebhookFunctions): Promise<IWebhookResponseData> {
		return await receiveDecision(this);
	}

	async execute(this: IExecuteFunctions): Promise<INodeExecutionData[][]> {
		const review = await reviewCall(this);
		return 'declined' in review ? review.declined : await execute(this, review);
	}
}
