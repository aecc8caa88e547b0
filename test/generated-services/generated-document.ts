import type { Dialect, KeyPromise } from './dialect.ts';

/** The API description of a service in a folder such as `/s1`. */
export function documentOf(dialect: Dialect, folder: string): object {
	const prefix = { 'in paths': '/v1', 'in servers': '', 'relative server': '' }[dialect.prefix];
	const servers = { 'in paths': folder, 'in servers': `${folder}/v1`, 'relative server': './v1' }[dialect.prefix];
	return {
		openapi: dialect.openapi,
		info: { title: 'Generated', version: '1', ...nullMembers(dialect) },
		...(servers !== '' && { servers: [{ url: servers }] }),
		paths: {
			[`${prefix}/contacts`]: listPath(dialect),
			[`${prefix}/contacts/{contact}`]: recordPath(dialect),
			...batchPaths(dialect, prefix),
		},
		components: {
			schemas: {
				Fields: fieldsOf(dialect),
				Contact: { allOf: [{ type: 'object', properties: { id: { type: 'string', readOnly: true } } }, ref('Fields')] },
				Circle: { allOf: [ref('Circle')] },
				Key: { type: 'string', enum: [dialect.names.match] },
			},
			...(dialect.hasNulls && { responses: null, examples: null }),
		},
	};
}

const ref = (name: string) => ({ $ref: `#/components/schemas/${name}` });

const nullMembers = ({ hasNulls }: Dialect) =>
	hasNulls ? { description: null, tags: null, 'x-internal': null, externalDocs: null } : {};

const responseOf = ({ hasNulls }: Dialect, schema: object) => ({
	description: 'Done',
	content: { 'application/json': { schema, ...(hasNulls && { example: null }) } },
	...(hasNulls && { headers: null }),
});

const operationOf = (dialect: Dialect, operationId: string, more: object) => ({ operationId, ...nullMembers(dialect), ...more });

const keyParameters = (dialect: Dialect, promise: KeyPromise) =>
	promise === 'declared'
		? [...otherHeaders(dialect), { name: dialect.key.name, in: 'header', required: dialect.key.isRequired, schema: keySchema(dialect) }]
		: [];

const requestBody = (schema: unknown, type = 'application/json') => ({ required: true, content: { [type]: { schema } } });

const writeOf = (dialect: Dialect, id: string, schema?: unknown, type?: string) =>
	operationOf(dialect, id, {
		parameters: keyParameters(dialect, dialect.keysOf.single),
		...(schema !== undefined && { requestBody: requestBody(schema, type) }),
		...(dialect.batch && { 'x-batch': `${id}-batch` }),
		responses: { '200': responseOf(dialect, ref('Contact')), ...(dialect.hasNulls && { '404': null, 'x-extension': 1 }) },
	});

function listPath(dialect: Dialect): object {
	const { cursor, pageSize, names } = dialect;
	const list = { type: 'object', properties: { data: { type: 'array', items: ref('Contact') } } };
	const bodies = {
		inline: fieldsOf(dialect),
		reference: ref('Fields'),
		allOf: { allOf: [ref('Fields'), { required: [names.text] }] },
	};
	return {
		...nullMembers(dialect),
		get: operationOf(dialect, 'list', {
			parameters: [
				{ name: cursor, in: 'query', ...nullMembers(dialect), schema: { type: 'string' } },
				{ name: pageSize.name, in: 'query', ...nullMembers(dialect), schema: sizeSchema(dialect) },
			],
			responses: { '200': responseOf(dialect, list) },
		}),
		post: writeOf(dialect, 'create', bodies[dialect.body]),
		put: {
			...writeOf(dialect, 'upsert', ref('Fields')),
			parameters: [...otherChoices, matchParameter(dialect), ...keyParameters(dialect, dialect.keysOf.single)],
		},
	};
}

function recordPath(dialect: Dialect): object {
	const method = dialect.update.startsWith('put') ? 'put' : 'patch';
	const type = dialect.update === 'merge-patch' ? 'application/merge-patch+json' : undefined;
	const conditions = [{ name: 'If-Match', in: 'header', schema: { type: 'string' } }];
	return {
		parameters: [{ name: 'contact', in: 'path', required: true, schema: { type: 'string' } }],
		get: operationOf(dialect, 'get', { responses: { '200': responseOf(dialect, ref('Contact')) } }),
		[method]: {
			...writeOf(dialect, 'update', ref('Fields'), type),
			...(method === 'put' && {
				parameters: [...keyParameters(dialect, dialect.keysOf.single), ...conditions],
				'x-batch': undefined,
			}),
		},
		delete: writeOf(dialect, 'delete'),
	};
}

function batchPaths(dialect: Dialect, prefix: string): object {
	const { batch, names } = dialect;
	if (!batch) return {};
	const items = { [names.batch]: { type: 'array', maxItems: batch.maximum, items: ref('Fields') } };
	return Object.fromEntries(
		['create', 'upsert', 'update', 'delete'].map((id) => [
			`${prefix}/contacts/${id}-batch`,
			{
				post: operationOf(dialect, `${id}-batch`, {
					parameters: [...keyParameters(dialect, dialect.keysOf.batch), ...(id === 'upsert' ? [matchParameter(dialect)] : [])],
					requestBody: requestBody({ type: 'object', properties: items }),
					responses: { '207': responseOf(dialect, { type: 'object' }) },
				}),
			},
		]),
	);
}

const matchParameter = ({ names, matchOn }: Dialect) => ({
	name: 'match_on',
	in: 'query',
	required: true,
	schema: {
		enum: { type: 'string', enum: [names.match] },
		const: { oneOf: [{ const: names.match, title: 'The only one' }] },
		reference: { anyOf: [{ $ref: '#/components/schemas/Key' }] },
	}[matchOn],
});

/** Parameters with other choices than the field to match on. */
const otherChoices = [{ name: 'mode', in: 'query', schema: { enum: ['merge', 'replace'] } }];

const otherHeaders = ({ key }: Dialect) =>
	key.hasOthers
		? ['X-Idempotency-TTL', 'Idempotency-Replay'].map((name) => ({ name, in: 'header', schema: { type: 'string' } }))
		: [];

function fieldsOf({ names, hasNulls, hasOddSchemas, openapi }: Dialect): object {
	const nullable = openapi === '3.1.0' ? { type: ['string', 'null'] } : { type: 'string', nullable: true };
	return {
		type: 'object',
		...(hasNulls && { required: null, description: null }),
		properties: {
			[names.text]: { type: 'string', ...(hasNulls && { enum: null, title: null, pattern: null }) },
			[names.count]: { type: 'integer', ...(hasNulls && { minimum: null }) },
			[names.match]: nullable,
			...(hasOddSchemas && {
				circle: { $ref: '#/components/schemas/Circle' },
				described: { $ref: '#/components/schemas/Fields' },
				anything: true,
				never: false,
				nowhere: { $ref: '#/components/schemas/Missing' },
				elsewhere: { $ref: 'other.yaml#/Thing' },
				inside: { $ref: '#/components/schemas/Fields/properties/anything' },
				kinds: { oneOf: [{ type: 'integer' }, { type: 'object', properties: { a: {} } }] },
				text: 'string',
				list: { type: 'array' },
			}),
		},
	};
}

function keySchema({ key }: Dialect): object {
	if (key.format === 'uuid') return { type: 'string', format: 'uuid' };
	return key.format === 'short' ? { type: 'string', maxLength: 64 } : { type: 'string' };
}

function sizeSchema({ pageSize: { stated, maxSize } }: Dialect): object {
	const limits = {
		maximum: { maximum: maxSize },
		exclusiveMaximum: { exclusiveMaximum: maxSize + 1 },
		'exclusiveMaximum of 3.0': { maximum: maxSize + 1, exclusiveMaximum: true },
		nowhere: {},
	};
	return { type: 'integer', ...limits[stated] };
}
