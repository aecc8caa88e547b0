import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { parseJson, parsedValue } from '../base/json';
import { checkExact, withExactNumbers } from '../base/numbers';
import { resultOrError } from '../base/results';
import { checkedPath, type Query } from '../api/http/path';
import type { ApiRequest } from '../api/http/request';
import type { NodeRun, Operation, Result } from '../model';
import { chosenOption, jsonProperty, textProperty } from '../parameters/properties';
import { writeOncePerOption } from '../parameters/outputParameters';
import { sendUnderKey } from '../writing/sendAlone';
import { eachItem } from '../schedule';

/** Any request to the service, with the node's credential, retries and pace. */
export const sendRequest: Operation = {
	option: {
		name: 'Send',
		value: 'send',
		action: 'Send API request',
		description: 'Send a request to any path of the API',
	},

	properties: () => [method, pathProperty, query, body, headers],
	options: [writeOncePerOption],
	output: null,

	prepare(run) {
		return eachItem(async (item) => {
			const request = requestOf(run, item);
			if (request.method === 'GET') return resultOf((await run.api.send(request)).body);
			const declared = await run.api.idempotencyHeaderAt(request.method, request.path);
			if (declared?.refusal !== undefined) throw new Error(declared.refusal);
			// The effect of a PATCH of an arbitrary path is unknown: it may add to a value.
			if (request.method === 'PATCH') request.isRepeatable = false;
			return resultOf((await sendUnderKey(run, declared ?? {}, request, { keyParts: [item] })).body);
		});
	},
};

function requestOf({ n8n }: NodeRun, item: number): ApiRequest {
	const request: ApiRequest = {
		method: chosenOption(n8n, item, method),
		path: checkedPath(String(n8n.getNodeParameter('path', item))),
		isWholePath: true,
		query: queryOf(jsonOf(n8n.getNodeParameter('query', item, {}), 'Query Parameters')),
		headers: headersOf(jsonOf(n8n.getNodeParameter('headers', item, {}), 'Headers')),
	};
	if (!['GET', 'DELETE'].includes(request.method)) {
		request.body = bodyOf(n8n.getNodeParameter('body', item, {}));
	}
	return request;
}

/** @throws Error in the user's words for a number that would not be sent as it was entered */
function bodyOf(value: unknown): object {
	const body = jsonOf(value, 'Body');
	if (typeof value === 'string' && withExactNumbers(value) !== value) {
		throw new Error(
			'Body: it contains a number with more digits than JavaScript can hold, so nothing was sent. Put it in quotes if the CRM accepts text.',
		);
	}
	return body;
}

/** @throws Error in the user's words if it is not JSON, or its numbers may have lost digits */
function jsonOf(value: unknown, name: string): object {
	checkExact(name, value);
	const parsed = typeof value === 'string' ? resultOrError(() => parsedValue(value.trim() || '{}')) : value;
	if (parsed instanceof Error) throw new Error(`${name}: ${parsed.message}`);
	if (typeof parsed === 'object' && parsed !== null) return parsed;
	throw new Error(`${name}: “${String(value)}” is not JSON such as { "key": "value" }`);
}

/** Names and values as in JSON, with dates as text; null marks a value that an expression did not find. */
function pairsOf(values: object): Array<[string, unknown]> {
	const json = parseJson(JSON.stringify(values)) as object;
	return Object.entries(json).filter(([, value]) => value !== null);
}

function queryOf(values: object): Query {
	const pairs = pairsOf(values);
	for (const [name, value] of pairs) {
		if (Array.isArray(value) ? value.some(isNested) : isNested(value)) {
			throw new Error(`Query Parameters: ${name} is an object. Use a separate parameter for each value, such as created_at[gte].`);
		}
	}
	// Unlike an assignment, this also sets a parameter called `__proto__`.
	return Object.fromEntries(pairs) as Query;
}

/** Checks names and values of headers (RFC 9110, sections 5.1 and 5.5). */
function headersOf(values: object): Record<string, string> {
	const pairs = pairsOf(values);
	for (const [name, value] of pairs) {
		if (name.toLowerCase() === 'authorization') {
			throw new Error('Headers: Authorization is set by the credential. To sign in as someone else, choose another credential.');
		}
		if (!/^[\w!#$%&'*+.^`|~-]+$/.test(name) || isNested(value) || !/^[\t -~]*$/.test(String(value))) {
			throw new Error(`Headers: ${name} is not a valid header. Its value must be text on a single line.`);
		}
	}
	return Object.fromEntries(pairs.map(([name, value]) => [name.toLowerCase(), String(value)]));
}

const isNested = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** A list becomes an item for each record; a text or number is wrapped, since an item is an object. */
function resultOf(body: unknown): Result {
	if (Array.isArray(body)) return body.map((element) => (Array.isArray(element) ? { value: element } : resultOf(element)) as IDataObject);
	return isNested(body) ? (body as IDataObject) : { value: body as string };
}

const method: INodeProperties = {
	displayName: 'Method',
	name: 'method',
	type: 'options',
	options: ['DELETE', 'GET', 'PATCH', 'POST', 'PUT'].map((name) => ({ name, value: name })),
	default: 'GET',
};

const pathProperty = textProperty('Path', 'path', {
	required: true,
	placeholder: 'e.g. /v1/contacts',
	description: 'The path after the base URL, as in the API documentation',
});

const query = jsonProperty('Query Parameters', 'query', { description: 'As JSON, such as { "limit": 10 }' });

const body = jsonProperty('Body', 'body', { displayOptions: { show: { method: ['PATCH', 'POST', 'PUT'] } } });

const headers = jsonProperty('Headers', 'headers', {
	description: 'As JSON, such as { "If-Match": "\\"3\\"" }, which writes only to version 3',
});
