import type { Dialect, KeyPromise } from './dialect.ts';

/** The API description of a service in a folder such as `/s1`. */
export function documentOf(dialect: Dialect, folder: string): object {
	const isInPaths = dialect.prefix === 'in paths';
	const prefix = isInPaths ? '/v1' : '';
	return {
		openapi: dialect.openapi,
		info: { title: 'Generated', version: '1' },
		servers: [{ url: isInPaths ? folder : `${folder}/v1` }],
		paths: {
			[`${prefix}/contacts`]: listPath(dialect),
			[`${prefix}/contacts/{contact}`]: recordPath(dialect),
			...batchPaths(dialect, prefix),
		},
		components: {
			schemas: {
				Fields: fieldsOf(dialect),
				Contact: { allOf: [{ type: 'object', properties: { id: { type: 'string', readOnly: true } } }, ref('Fields')] },
			},
			parameters: { key: keyParameter(dialect), match: matchParameter(dialect) },
			requestBodies: { fields: requestBody(ref('Fields')) },
		},
	};
}

const ref = (name: string, kind = 'schemas') => ({ $ref: `#/components/${kind}/${name}` });

const responseOf = (schema: object) => ({ description: 'Done', content: { 'application/json': { schema } } });

const keyParameter = (dialect: Dialect) =>
	({ name: dialect.key.name, in: 'header', required: dialect.key.isRequired, schema: keySchema(dialect) });

const keyParameters = (promise: KeyPromise) => (promise === 'declared' ? [ref('key', 'parameters')] : []);

const requestBody = (schema: unknown) => ({ required: true, content: { 'application/json': { schema } } });

const writeOf = (dialect: Dialect, operationId: string) => ({
	operationId,
	parameters: keyParameters(dialect.keysOf.single),
	...(operationId !== 'delete' && { requestBody: ref('fields', 'requestBodies') }),
	...(dialect.batch && { 'x-batch': `${operationId}-batch` }),
	responses: { '200': responseOf(ref('Contact')) },
});

function listPath(dialect: Dialect): object {
	const { cursor, pageSize } = dialect;
	const list = { type: 'object', properties: { data: { type: 'array', items: ref('Contact') } } };
	return {
		get: {
			operationId: 'list',
			parameters: [
				{ name: cursor, in: 'query', schema: { type: 'string' } },
				{ name: pageSize.name, in: 'query', schema: { type: 'integer', maximum: pageSize.maxSize } },
				{ name: 'order', in: 'query', schema: { type: 'string', enum: ['newest first'] } },
			],
			responses: { '200': responseOf(list) },
		},
		post: writeOf(dialect, 'create'),
		put: {
			...writeOf(dialect, 'upsert'),
			parameters: [ref('match', 'parameters'), ...keyParameters(dialect.keysOf.single)],
		},
	};
}

function recordPath(dialect: Dialect): object {
	const method = dialect.update.startsWith('put') ? 'put' : 'patch';
	const conditions = [{ name: 'If-Match', in: 'header', schema: { type: 'string' } }];
	return {
		parameters: [{ name: 'contact', in: 'path', required: true, schema: { type: 'string' } }],
		get: { operationId: 'get', responses: { '200': responseOf(ref('Contact')) } },
		[method]: {
			...writeOf(dialect, 'update'),
			...(method === 'put' && {
				parameters: [...keyParameters(dialect.keysOf.single), ...conditions],
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
				post: {
					operationId: `${id}-batch`,
					parameters: [...keyParameters(dialect.keysOf.batch), ...(id === 'upsert' ? [matchParameter(dialect)] : [])],
					requestBody: requestBody({ type: 'object', properties: items }),
					responses: { '207': responseOf({ type: 'object' }) },
				},
			},
		]),
	);
}

const matchParameter = ({ names }: Dialect) => ({
	name: 'match_on', in: 'query', required: true, schema: { type: 'string', enum: [names.match] },
});

function fieldsOf({ names, openapi }: Dialect): object {
	const nullable = openapi === '3.1.0' ? { type: ['string', 'null'] } : { type: 'string', nullable: true };
	return {
		type: 'object',
		properties: { [names.text]: { type: 'string' }, [names.count]: { type: 'integer' }, [names.match]: nullable },
	};
}

function keySchema({ key }: Dialect): object {
	if (key.format === 'uuid') return { type: 'string', format: 'uuid' };
	return key.format === 'short' ? { type: 'string', maxLength: 64 } : { type: 'string' };
}
