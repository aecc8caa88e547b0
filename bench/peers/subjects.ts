import type { INodeParameters } from 'n8n-workflow';

/** What is measured, by the name of its column. */
export const subjects = [
	'CRM Platform',
	'bare loop',
	'HTTP Request',
	'HubSpot',
	'Airtable',
] as const;

export type Subject = (typeof subjects)[number];

/** The tasks of each. */
export type PeerTask = 'list' | 'create' | 'update' | 'delete';

/** A node, and its parameters for each task. */
export interface Peer {
	host: string;
	/** Records on a page of its lists. */
	pageSize: number;
	/** Where its class is in n8n's nodes; ours is in the built package. */
	file?: string;
	className: string;
	/** Its type in workflows. */
	type: string;
	typeVersion: number;
	credential: { type: string; file?: string; className: string; data: Record<string, string> };
	parameters: Record<PeerTask, INodeParameters>;
}

const fieldExpression = (name: string) => `={{ $json.${name} }}`;
const idOfItem = fieldExpression('id');

const byId = { __rl: true, mode: 'id', value: idOfItem };
const automatic = { mappingMode: 'autoMapInputData', value: null, matchingColumns: ['id'], schema: [] };

const crm: Peer = {
	host: 'api.crm.example',
	pageSize: 500,
	className: 'CrmPlatform',
	type: 'n8n-nodes-crm-platform.crmPlatform',
	typeVersion: 1,
	credential: {
		type: 'crmPlatformApi',
		className: 'CrmPlatformApi',
		data: { baseUrl: 'https://api.crm.example', apiKey: 'KEY' },
	},
	parameters: {
		list: {
			...{ resource: 'contact', operation: 'getMany', returnAll: true, simplify: true },
			filters: { ...automatic, mappingMode: 'defineBelow', value: {} },
			options: {},
		},
		create: { resource: 'contact', operation: 'create', fields: automatic, options: {} },
		update: {
			...{ resource: 'contact', operation: 'update', recordId: byId },
			...{ fields: automatic, options: {} },
		},
		delete: { resource: 'contact', operation: 'delete', recordId: byId, options: {} },
	},
};

const httpUrl = 'https://api.http-request.example/v1/contacts';
const httpRequest = (parameters: object) =>
	({
		...{ authentication: 'genericCredentialType', genericAuthType: 'httpBearerAuth', options: {} },
		...parameters,
	}) as INodeParameters;
const jsonOfItem = {
	...{ sendBody: true, contentType: 'json', specifyBody: 'json' },
	jsonBody: '={{ $json }}',
};

const http: Peer = {
	host: 'api.http-request.example',
	pageSize: 500,
	file: 'HttpRequest/HttpRequest.node.js',
	className: 'HttpRequest',
	type: 'n8n-nodes-base.httpRequest',
	typeVersion: 4.5,
	credential: {
		type: 'httpBearerAuth',
		file: 'HttpBearerAuth',
		className: 'HttpBearerAuth',
		data: { token: 'KEY' },
	},
	parameters: {
		list: httpRequest({
			...{ method: 'GET', url: httpUrl, sendQuery: true, specifyQuery: 'keypair' },
			queryParameters: { parameters: [{ name: 'limit', value: '500' }] },
			options: {
				pagination: {
					pagination: {
						paginationMode: 'updateAParameterInEachRequest',
						parameters: {
							parameters: [{ type: 'qs', name: 'cursor', value: '={{ $response.body.next_cursor }}' }],
						},
						paginationCompleteWhen: 'other',
						completeExpression: '={{ !$response.body.next_cursor }}',
					},
				},
			},
		}),
		create: httpRequest({ method: 'POST', url: httpUrl, ...jsonOfItem }),
		update: httpRequest({ method: 'PATCH', url: `=${httpUrl}/{{ $json.id }}`, ...jsonOfItem }),
		delete: httpRequest({ method: 'DELETE', url: `=${httpUrl}/{{ $json.id }}` }),
	},
};

const hubspotUpsert: INodeParameters = {
	...{ authentication: 'appToken', resource: 'contact', operation: 'upsert', email: fieldExpression('email') },
	additionalFields: {
		firstName: fieldExpression('first_name'),
		lastName: fieldExpression('last_name'),
		phoneNumber: fieldExpression('phone'),
		jobTitle: fieldExpression('job_title'),
	},
	// Otherwise the node reads each contact again, which makes two requests per item.
	options: { resolveData: true },
};

const hubspot: Peer = {
	host: 'api.hubapi.com',
	pageSize: 100,
	file: 'Hubspot/Hubspot.node.js',
	className: 'Hubspot',
	type: 'n8n-nodes-base.hubspot',
	typeVersion: 2.2,
	credential: {
		...{ type: 'hubspotAppToken', file: 'HubspotAppToken', className: 'HubspotAppToken' },
		data: { appToken: 'KEY' },
	},
	parameters: {
		list: {
			...{ authentication: 'appToken', resource: 'contact', operation: 'getAll', returnAll: true },
			additionalFields: {},
		},
		create: hubspotUpsert,
		// The node has no other way to change a contact.
		update: hubspotUpsert,
		delete: {
			...{ authentication: 'appToken', resource: 'contact', operation: 'delete', contactId: byId },
		},
	},
};

const row = (operation: string, more: object) =>
	({
		...{ authentication: 'airtableTokenApi', resource: 'record', operation },
		base: { __rl: true, mode: 'id', value: 'appBench' },
		table: { __rl: true, mode: 'id', value: 'tblContacts' },
		options: {},
		...more,
	}) as INodeParameters;

const airtable: Peer = {
	host: 'api.airtable.com',
	pageSize: 100,
	file: 'Airtable/Airtable.node.js',
	className: 'Airtable',
	type: 'n8n-nodes-base.airtable',
	typeVersion: 2.2,
	credential: {
		...{ type: 'airtableTokenApi', file: 'AirtableTokenApi', className: 'AirtableTokenApi' },
		data: { accessToken: 'KEY' },
	},
	parameters: {
		list: row('search', { returnAll: true, filterByFormula: '', sort: {} }),
		create: row('create', { columns: automatic }),
		update: row('update', { columns: automatic }),
		delete: row('deleteRecord', { id: idOfItem }),
	},
};

export const peers: Record<Exclude<Subject, 'bare loop'>, Peer> = {
	'CRM Platform': crm,
	'HTTP Request': http,
	HubSpot: hubspot,
	Airtable: airtable,
};

/** Records on a page of the subject's lists. */
export const pageSizeOf = (subject: Subject): number =>
	subject === 'bare loop' ? crm.pageSize : peers[subject].pageSize;
