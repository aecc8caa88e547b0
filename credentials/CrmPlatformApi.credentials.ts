import type { Icon, ICredentialDataDecryptedObject, ICredentialType, IHttpRequestOptions, INodeProperties } from 'n8n-workflow';

import { baseUrl, apiDescriptionUrl, leaveRoom } from './serviceProperties';

export class CrmPlatformApi implements ICredentialType {
	name = 'crmPlatformApi';

	displayName = 'CRM Platform API';

	icon: Icon = {
		light: 'file:../icons/crm-platform.svg',
		dark: 'file:../icons/crm-platform.dark.svg',
	};

	documentationUrl =
		'https://github.com/n8n-nodes-crm-platform/n8n-nodes-crm-platform/blob/main/docs/guide/credentials.md#api-key';

	properties: INodeProperties[] = [
		baseUrl,
		{
			displayName: 'API Key',
			name: 'apiKey',
			type: 'string',
			typeOptions: { password: true },
			default: '',
			required: true,
			description: 'Create one in the CRM’s settings, under API and integrations',
		},
		apiDescriptionUrl,
		leaveRoom,
	];

	/** This is a function, since n8n would evaluate the declarative form for each request. */
	authenticate = async (
		credentials: ICredentialDataDecryptedObject,
		request: IHttpRequestOptions,
	): Promise<IHttpRequestOptions> => ({
		...request,
		headers: { ...request.headers, authorization: `Bearer ${String(credentials.apiKey)}` },
	});
}
