import type { INodeProperties } from 'n8n-workflow';

export const baseUrl: INodeProperties = {
	displayName: 'Base URL',
	name: 'baseUrl',
	type: 'string',
	default: '',
	required: true,
	placeholder: 'https://api.example.com',
	description: 'The URL of the API, with or without /v1 at the end',
};

export const apiDescriptionUrl: INodeProperties = {
	displayName: 'API Description URL',
	name: 'descriptionUrl',
	type: 'string',
	default: '',
	placeholder: 'https://api.example.com/openapi.json',
	description:
		'Where the CRM publishes its OpenAPI document. Leave empty for /openapi.json at the base URL.',
};

export const leaveRoom: INodeProperties = {
	displayName: 'Leave Room for Others (%)',
	name: 'leaveRoom',
	type: 'number',
	typeOptions: { minValue: 0, maxValue: 90 },
	default: 0,
	description:
		'The part of the rate limit that imports, exports and other long-running work leave to other programs',
};
