import { problems } from '../problem.ts';
import { type JsonSchema, jsonSchema, nullable, typesOf } from '../schemas/json-schema.ts';
import { isImmutable, type Resource } from '../schemas/resource.ts';
import { batchSchemas } from './batch-schemas.ts';
import { capital, namesOf } from './names.ts';

/** The schemas of one resource: record, list, and what its writes take, of one and of many. */
export function resourceSchemas(resource: Resource): Record<string, JsonSchema> {
	const { One, many, aOne } = namesOf(resource);
	const { properties = {}, required = [] } = jsonSchema(resource.input, 'input');
	const writable = Object.entries(properties);
	// Left out, a field keeps its value, so no default is promised here.
	const changeable = writable.map(([name, { default: _, ...schema }]): [string, JsonSchema] => [
		name,
		required.includes(name) ? schema : nullable(schema),
	]);
	const schemas: Record<string, JsonSchema> = {
		[One]: {
			description: `${capital(aOne)} as the service has it.`,
			type: 'object',
			properties: resource.properties,
			// A token that may write and not read is answered the id and the version.
			required: ['id'],
			example: exampleOf(Object.entries(resource.properties)),
		},
		[`${One}Create`]: inputSchema(`What ${aOne} begins with.`, writable, required),
		[`${One}Update`]: inputSchema(
			'What to change: null clears a field, fields left out stay as they are (RFC 7396).',
			changeable.filter(([name]) => !isImmutable(resource, name)),
			[],
		),
		[`${One}Upsert`]: inputSchema(
			`What to change, or what ${aOne} begins with if there is none yet.`,
			changeable,
			[],
		),
		[`${One}List`]: pageSchema(One, many),
	};
	return { ...schemas, ...batchSchemas(resource, schemas) };
}

/** A list of what `schema` describes, page by page. */
export const pageSchema = (schema: string, many: string): JsonSchema => ({
	description: `One page of ${many}.`,
	type: 'object',
	properties: {
		data: { type: 'array', items: { $ref: `#/components/schemas/${schema}` } },
		next_cursor: {
			description: 'Where the next page begins; null on the last page.',
			type: ['string', 'null'],
		},
		total: {
			description: `How many ${many} there are with these filters, on all pages.`,
			type: 'integer',
			minimum: 0,
		},
	},
	required: ['data', 'next_cursor', 'total'],
});

/** What a client sends: these fields and no others. */
export const inputSchema = (
	description: string,
	fields: Array<[string, JsonSchema]>,
	needed: string[],
): JsonSchema => ({
	description,
	type: 'object',
	properties: Object.fromEntries(fields),
	...(needed.length > 0 && { required: needed }),
	additionalProperties: false,
	example: exampleOf(fields.filter(([, schema]) => schema.examples)),
});

/** Every error body (RFC 9457). */
export const problemSchema: JsonSchema = {
	description: 'What went wrong (RFC 9457).',
	type: 'object',
	properties: {
		type: { type: 'string', format: 'uri', description: 'Identifies the kind of error.' },
		title: { type: 'string', description: 'The kind of error in words.' },
		status: { type: 'integer', description: 'The HTTP status.' },
		detail: { type: 'string', description: 'What is wrong with this request.' },
		code: { type: 'string', enum: Object.keys(problems), description: 'For programs.' },
		request_id: { type: 'string', description: 'Name it when you ask for help.' },
		errors: {
			type: 'array',
			description: 'Each place in the body or the query that is wrong.',
			items: {
				type: 'object',
				properties: {
					pointer: { type: 'string', description: 'Place in the body (RFC 6901).' },
					parameter: { type: 'string', description: 'Name of the parameter or header.' },
					code: { type: 'string', description: 'For programs.' },
					detail: { type: 'string', description: 'What is wrong there.' },
				},
				required: ['code', 'detail'],
			},
		},
		existing_id: { type: 'string', description: 'With duplicate: the record that has the value.' },
		scope: { type: 'string', description: 'With insufficient_scope: the scope that is needed.' },
		from: { type: 'string', description: 'With invalid_state_transition: the state it is in.' },
		to: { type: 'string', description: 'With invalid_state_transition: the state asked for.' },
		allowed: {
			type: 'array',
			description: 'With invalid_state_transition: the states that are possible.',
			items: { type: 'string' },
		},
	},
	required: ['type', 'title', 'status', 'detail', 'code', 'request_id', 'errors'],
};

/** A value that fits the schema: its first example, else built from its members, else null. */
export function exampleValue(schema: JsonSchema): unknown {
	if (schema.examples?.length) return schema.examples[0];
	if ('const' in schema) return schema['const'];
	if (schema.properties) return exampleOf(Object.entries(schema.properties));
	if (typesOf(schema).includes('null')) return null;
	if (typesOf(schema).includes('array')) return [exampleValue(schema.items ?? {})].filter(isGiven);
	return schema.enum?.[0] ?? schema['default'] ?? null;
}

const isGiven = (value: unknown): boolean => value !== null;

const exampleOf = (fields: Array<[string, JsonSchema]>) =>
	Object.fromEntries(fields.map(([name, schema]) => [name, exampleValue(schema)]));
