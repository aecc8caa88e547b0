/** Declared to n8n as the CRM Platform Trigger is, and does nothing but start the workflow. */
export class BareTrigger {
	description = {
		displayName: 'Bare Trigger',
		name: 'bareTrigger',
		group: ['trigger'],
		version: 1,
		description: 'Starts the workflow with what is delivered',
		defaults: { name: 'Bare Trigger' },
		inputs: [],
		outputs: ['main'],
		credentials: [{ name: 'crmPlatformApi', required: true }],
		webhooks: [
			{
				name: 'default',
				httpMethod: 'POST',
				responseMode: 'onReceived',
				responseData: 'noData',
				path: 'webhook',
			},
		],
		properties: [],
	};

	/** @this {import('n8n-workflow').IWebhookFunctions} */
	async webhook() {
		return { workflowData: [[{ json: this.getBodyData() }]] };
	}
}
