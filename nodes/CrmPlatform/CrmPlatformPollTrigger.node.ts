import { type INodeType, type INodeTypeDescription, type ITriggerFunctions, type ITriggerResponse, NodeConnectionTypes } from 'n8n-workflow';

import { authentication, credentials, icon } from './actionProperties';
import { editorMethods } from './pickers/editorMethods';
import { pollProperties } from './trigger/poll/pollSettings';
import { startPollTrigger } from './trigger/poll/trigger';

export class CrmPlatformPollTrigger implements INodeType {
	description: INodeTypeDescription = {
		displayName: 'CRM Platform Poll Trigger',
		name: 'crmPlatformPollTrigger',
		icon,
		group: ['trigger'],
		version: 1,
		subtitle: '={{ $parameter["source"] === "records" ? $parameter["resource"] : $parameter["events"].join(", ") }}',
		description: 'Starts the workflow once for each changed record or event of a CRM Platform account, even if n8n restarts; needs no public URL',
		defaults: { name: 'CRM Platform Poll Trigger' },
		inputs: [],
		outputs: [NodeConnectionTypes.Main],
		credentials,
		properties: [authentication, ...pollProperties],
	};

	methods = editorMethods;

	async trigger(this: ITriggerFunctions): Promise<ITriggerResponse> {
		return await startPollTrigger(this);
	}
}
