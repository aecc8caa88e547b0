import * as fc from 'fast-check';
import type { Json } from '../../sandbox/harness/in-process.ts';
import { headersOf } from './headers.ts';
import { idOf, valueOf } from './schema-values.ts';
import { encoded, junk, oddText, rarely } from './values.ts';

/** A request before the ids it names are known. */
export interface Draft {
	method: string;
	path: string;
	/** Pairs, as one name may be there twice. */
	query: Array<[string, string]>;
	headers: Record<string, string>;
	body: string | Uint8Array<ArrayBuffer> | undefined;
}

/** How many requests of each kind, and the seed: the same one makes the same requests. */
export interface FuzzRuns {
	runs: number;
	seed: number;
}

/** One operation of the OpenAPI document. */
export interface FuzzedOperation {
	name: string;
	method: string;
	path: string;
	parameters: Json[];
	/** What it takes, if it takes a body. */
	content: { type: string; schema: Json } | undefined;
}

export const operationsOf = (document: Json): FuzzedOperation[] =>
	Object.entries<Json>(document.paths).flatMap(([path, { parameters = [], ...methods }]) =>
		Object.entries<Json>(methods).map(([method, operation]) => {
			const [content] = Object.entries<Json>(operation.requestBody?.content ?? {});
			return {
				name: operation.operationId,
				method: method.toUpperCase(),
				path,
				parameters: [...parameters, ...(operation.parameters ?? [])],
				content: content && { type: content[0], schema: content[1].schema },
			};
		}),
	);

/** Requests for an operation: in order, nearly in order, and out of their mind. */
export function drafts(document: Json, operation: FuzzedOperation): fc.Arbitrary<Draft> {
	return fc.record({
		method: rarely(oddMethod, operation.method),
		path: pathOf(operation),
		query: queryOf(document, operation),
		headers: headersOf(operation.method, operation.content?.type),
		body: bodyOf(document, operation),
	});
}

const oddMethod = fc.constantFrom('HEAD', 'OPTIONS', 'PUT', 'DELETE', 'PROPFIND', 'QUERY');

/** `/v1/contacts/{id}/tags/{tag_id}`, with the ids of records that there are. */
function pathOf({ path }: FuzzedOperation): fc.Arbitrary<string> {
	const resource = /^\/v1\/(custom-objects\/\{key\}\/records|[\w-]+)/.exec(path)?.[1] ?? '';
	const concreteResource = resource.replace('{key}', 'machines');
	const parts = path.split(/(\{\w+\})/).map((part) => {
		if (part === '{key}') return rarely(oddSegment, 'machines');
		if (part === '{tag_id}') return rarely(oddSegment, idOf('tags'));
		return part.startsWith('{') ? rarely(oddSegment, idOf(concreteResource), 10) : fc.constant(part);
	});
	return fc.tuple(...parts).map((texts) => texts.join(''));
}

const oddSegment = fc.oneof(
	fc.constantFrom('%', '%zz', '%00', '%c0%80', '%ed%a0%80', '%2e%2e', '..', 'a%2fb', ':id', '*'),
	oddText.map(encoded),
);

function queryOf(document: Json, { parameters }: FuzzedOperation): fc.Arbitrary<Array<[string, string]>> {
	const inQuery = parameters.filter((parameter) => parameter.in === 'query');
	const pairs = inQuery.map(({ name, schema, required }) => {
		const pair = valueOf(document, schema).map((value) => [[name, queryText(value)]]);
		// Few of the many filters of a list are used at a time.
		return required ? pair : rarely(pair, [], Math.max(1, inQuery.length / 3));
	});
	const odd = rarely(fc.array(fc.tuple(oddName, oddText), { maxLength: 2 }), [], 8);
	return fc.tuple(...pairs, odd).map((parts) => parts.flat() as Array<[string, string]>);
}

const oddName = rarely(
	oddText,
	fc.constantFrom('__proto__', 'custom_fields.constructor', 'q', 'limit', 'cursor', 'sort', 'match_on'),
);

const queryText = (value: unknown): string =>
	Array.isArray(value)
		? value.map(queryText).join()
		: typeof value === 'string'
			? value
			: JSON.stringify(value);

function bodyOf(document: Json, { content, method }: FuzzedOperation): fc.Arbitrary<Draft['body']> {
	if (method === 'GET') return fc.constant(undefined);
	if (!content) return rarely<Draft['body']>(fc.constantFrom('{}', 'x'), undefined);
	const json = rarely(junk, valueOf(document, content.schema)).map((value) => JSON.stringify(value));
	const usual = content.type === 'application/x-ndjson' ? lines : json;
	const texts = fc.tuple(usual, mangling).map(([text, mangle]) => mangle(text));
	return rarely<Draft['body']>(fc.constant(undefined), texts);
}

/** Lines of records of any resource, so mostly out of place. */
const lines = fc
	.array(fc.oneof(junk, fc.record({ name: fc.string(), email: fc.emailAddress() })), { maxLength: 5 })
	.map((values) => values.map((value) => JSON.stringify(value)).join('\n'));

/** Ways in which what is nearly JSON comes to be. */
const mangling = rarely<(text: string) => Draft['body']>(
	fc.constantFrom<Array<(text: string) => Draft['body']>>(
		(text) => text.slice(0, text.length / 2),
		(text) => text.slice(0, -1),
		(text) => `\ufeff${text}`,
		(text) => text + text,
		(text) => text.replace(/"[^"]*"(?=[,}\]])/, '1e400'),
		(text) => text.replaceAll('"', "'"),
		(text) => new Uint8Array([...new TextEncoder().encode(text.slice(0, -1)), 0xff]),
		() => '[{"a":NaN}]',
	),
	fc.constant((text) => text),
);
