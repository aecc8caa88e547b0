import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { parseJson } from '../api/http/json';
import { checkedPath, type Query } from '../api/http/path';
import type { ApiRequest } from '../api/http/request';
import type { Execution, Operation, Result } from '../model';
import { writeOne } from '../writing/single';

/** Any request to the service, with the node's credential, retries and pace. */
export function sendRequest(): Operation {
	return {
		option: {
			name: 'Send',
			value: 'send',
			action: 'Send an API request',
			description: 'Call any path of the service’s API',
		},

		properties: () => [method, path, query, body, headers],
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

function requestOf({ n8n }: Execution, item: number): ApiRequest {
	const request: ApiRequest = {
		method: n8n.getNodeParameter('method', item) as ApiRequest['method'],
		path: checkedPath(String(n8n.getNodeParameter('path', item))),
		query: queryOf(given(n8n.getNodeParameter('query', item, {}), 'Query Parameters')),
		headers: headersOf(given(n8n.getNodeParameter('headers', item, {}), 'Headers')),
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

/** Names and values as JSON has them, where a date is text; null is what an expression did not find. */
function pairsOf(values: object): Array<[string, unknown]> {
	const json = parseJson(JSON.stringify(values)) as object;
	return Object.entries(json).filter(([, value]) => value !== null);
}

function queryOf(values: object): Query {
	const query: Query = {};
	for (const [name, value] of pairsOf(values)) {
		const nested = Array.isArray(value) ? value.some(isObject) : isObject(value);
		if (nested) {
			throw new Error(
				`Query Parameters: ${name} is an object, for which a query has no place. Give each value a name of its own, such as created_at[gte].`,
			);
		}
		query[name] = value as Query[string];
	}
	return query;
}

/** What can stand in a header: RFC 9110, sections 5.1 and 5.5. */
function headersOf(values: object): Record<string, string> {
	const headers: Record<string, string> = {};
	for (const [name, value] of pairsOf(values)) {
		if (name.toLowerCase() === 'authorization') {
			throw new Error(
				'Headers: Authorization comes from the credential. Choose another credential to sign in as someone else.',
			);
		}
		if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || isObject(value) || !/^[\t -~]*$/.test(String(value))) {
			throw new Error(`Headers: ${name} is not a header, a name with a text of one line.`);
		}
		headers[name.toLowerCase()] = String(value);
	}
	return headers;
}

const isObject = (value: unknown): boolean => typeof value === 'object' && value !== null;

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

const headers: INodeProperties = {
	displayName: 'Headers',
	name: 'headers',
	type: 'json',
	default: '{}',
	description:
		'As JSON, such as { "If-Match": "\\"3\\"" }, with which the service writes version 3 of a record or nothing',
};
