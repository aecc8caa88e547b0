import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { parseJson } from '../api/json';
import { checkedPath, type Query } from '../api/path';
import type { ApiRequest } from '../api/request';
import type { Job, Operation, Result } from '../model';
import { writeOne } from './writeOne';

/** Any request to the service, with the node's credential, retries and pace. */
export function sendRequest(): Operation {
	return {
		option: {
			name: 'Send',
			value: 'send',
			action: 'Send an API request',
			description: 'Call any path of the service’s API',
		},

		properties: () => [method, path, query, body],
		output: null,

		async prepare(job) {
			// One header carries the key wherever the service takes one.
			const header = (await job.api.describe('/contacts'))?.create?.idempotencyHeader;
			return async (item) => {
				const request = requestOf(job, item);
				if (request.method === 'GET') return resultOf((await job.api.send(request)).body);
				const description = {
					method: request.method,
					fields: [],
					query: [],
					...(header !== undefined && { idempotencyHeader: header }),
				};
				return resultOf(await writeOne(job, description, request, [item]));
			};
		},
	};
}

function requestOf({ n8n }: Job, item: number): ApiRequest {
	const request: ApiRequest = {
		method: n8n.getNodeParameter('method', item) as ApiRequest['method'],
		path: checkedPath(String(n8n.getNodeParameter('path', item))),
		query: given(n8n.getNodeParameter('query', item, {}), 'Query Parameters') as Query,
	};
	if (!['GET', 'DELETE'].includes(request.method)) {
		request.body = given(n8n.getNodeParameter('body', item, {}), 'Body');
	}
	return request;
}

function given(value: unknown, name: string): object {
	const parsed = typeof value === 'string' ? parseJson(value.trim() || '{}') : value;
	if (typeof parsed === 'object' && parsed !== null) return parsed;
	throw new Error(`${name}: '${String(value)}' is not JSON such as { "key": "value" }`);
}

/** A list is one item for each record; what is no object cannot be an item of its own. */
function resultOf(body: unknown): Result {
	if (Array.isArray(body)) return body.map((one) => resultOf(one) as IDataObject);
	return typeof body === 'object' && body !== null
		? (body as IDataObject)
		: { value: body as string };
}

const method: INodeProperties = {
	displayName: 'Method',
	name: 'method',
	type: 'options',
	options: ['DELETE', 'GET', 'PATCH', 'POST', 'PUT'].map((name) => ({ name, value: name })),
	default: 'GET',
};

const path: INodeProperties = {
	displayName: 'Path',
	name: 'path',
	type: 'string',
	default: '',
	required: true,
	placeholder: '/v1/contacts',
	description: 'From the base URL on, as the API’s documentation gives it',
};

const query: INodeProperties = {
	displayName: 'Query Parameters',
	name: 'query',
	type: 'json',
	default: '{}',
	description: 'As JSON, such as { "limit": 10 }',
};

const body: INodeProperties = {
	displayName: 'Body',
	name: 'body',
	type: 'json',
	default: '{}',
	displayOptions: { show: { method: ['PATCH', 'POST', 'PUT'] } },
};
