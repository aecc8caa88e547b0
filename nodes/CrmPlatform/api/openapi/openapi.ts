import { z } from 'zod';

/** The part of a JSON Schema (OpenAPI 3.0 and 3.1) the connector reads. */
export interface Schema {
	$ref?: string | undefined;
	type?: string | string[] | undefined;
	title?: string | undefined;
	description?: string | undefined;
	format?: string | undefined;
	pattern?: string | undefined;
	enum?: unknown[] | undefined;
	const?: unknown;
	minimum?: number | undefined;
	maximum?: number | undefined;
	/** A number in 3.1; in 3.0 whether `maximum` is excluded itself. */
	exclusiveMaximum?: number | boolean | undefined;
	minLength?: number | undefined;
	maxLength?: number | undefined;
	maxItems?: number | undefined;
	default?: unknown;
	nullable?: boolean | undefined;
	readOnly?: boolean | undefined;
	/** False where an object has no other members than those named. */
	additionalProperties?: false | undefined;
	required?: string[] | undefined;
	properties?: Record<string, Schema> | undefined;
	items?: Schema | undefined;
	allOf?: Schema[] | undefined;
	anyOf?: Schema[] | undefined;
	oneOf?: Schema[] | undefined;
	/** Ours: whether texts are kept in lower case, so that case does not tell values apart. */
	'x-lower-case'?: boolean | undefined;
	/** Ours: how people call the values of an enumeration, by value. */
	'x-enum-labels'?: Record<string, string> | undefined;
	/** Ours: whether it is one of the fields people use most. */
	'x-important'?: boolean | undefined;
	/** Ours: the records an id belongs to, such as `companies`. */
	'x-resource'?: string | undefined;
	/** Ours: the part of other records an id belongs to, such as `pipelines.stages`. */
	'x-item-of'?: string | undefined;
}

type Parser<T> = z.ZodType<T, z.ZodTypeDef, unknown>;

// Documents are written by hand and by generators: a keyword with an unexpected value, such as the
// null that YAML makes of a key without one, is read as absent and costs nothing else.
const optional = <T>(parser: Parser<T>) =>
	parser.nullish().transform((value) => value ?? undefined).catch(undefined);

/** The readable elements of a list. */
const listOf = <T>(parser: Parser<T>) =>
	optional(
		z.array(z.unknown()).transform((list) =>
			list.flatMap((json) => {
				const parsed = parser.safeParse(json);
				return parsed.success ? [parsed.data] : [];
			}),
		),
	);

/** The readable members of an object. */
const recordOf = <T>(parser: Parser<T>) =>
	optional(
		z.record(z.unknown()).transform((record) =>
			Object.fromEntries(
				Object.entries(record).flatMap(([key, json]): Array<[string, T]> => {
					const parsed = parser.safeParse(json);
					return parsed.success ? [[key, parsed.data]] : [];
				}),
			),
		),
	);

// By hand, since they are most of a document, and optional() costs four times as much.
const text = z.unknown().transform((json) => (typeof json === 'string' ? json : undefined));
const number = z.unknown().transform((json) => (typeof json === 'number' ? json : undefined));
const flag = z.unknown().transform((json) => (typeof json === 'boolean' ? json : undefined));

// `true` stands for any value (JSON Schema, section 4.3.2), and so does a schema that makes no
// sense; `false` allows no value.
const schema: Parser<Schema> = z.unknown().transform((json, context): Schema => {
	if (json === false) context.addIssue({ code: 'custom', message: 'allows no value' });
	const parsed = schemaObject.safeParse(json);
	return parsed.success ? parsed.data : {};
});

const schemas = listOf(schema);

const schemaObject: Parser<Schema> = z.object({
	$ref: text,
	type: z
		.union([z.string(), z.array(z.string())])
		.optional()
		.catch(undefined),
	title: text,
	description: text,
	format: text,
	pattern: text,
	enum: optional(z.array(z.unknown())),
	const: z.unknown(),
	minimum: number,
	maximum: number,
	exclusiveMaximum: z.union([z.number(), z.boolean()]).optional().catch(undefined),
	minLength: number,
	maxLength: number,
	maxItems: number,
	default: z.unknown(),
	nullable: flag,
	readOnly: flag,
	additionalProperties: z.unknown().transform((json) => (json === false ? json : undefined)),
	required: listOf(z.string()),
	properties: recordOf(schema),
	items: optional(schema),
	allOf: schemas,
	anyOf: schemas,
	oneOf: schemas,
	'x-enum-labels': recordOf(z.string()),
	'x-important': flag,
	'x-lower-case': flag,
	'x-resource': text,
	'x-item-of': text,
});

const reference = { $ref: text };
const content = recordOf(z.object({ schema: optional(schema) }));

/** Ours: how custom fields are named where the account's stand beside the document's own. */
const customFieldNames = optional(z.literal('custom_fields.{key}'));

const parameter = z.object({
	...reference,
	name: text,
	in: text,
	required: flag,
	deprecated: flag,
	description: text,
	schema: optional(schema),
	content,
	style: text,
	explode: flag,
	'x-custom-fields': customFieldNames,
});

const requestBody = z.object({ ...reference, content });

const link = z.object({ ...reference, operationId: text, parameters: optional(z.record(z.unknown())) });

const response = z.object({ ...reference, content, links: recordOf(link) });

/** Parameters, which parametersIn() reads: lists have dozens, and a write needs none of them. */
const unread = optional(z.array(z.unknown()));

const operation = z.object({
	operationId: text,
	/** Ours: the operation that does the same for many records at once, by its operationId. */
	'x-batch': text,
	'x-job': optional(z.object({ operationId: z.string(), parameters: recordOf(z.string()) })),
	'x-custom-fields': customFieldNames,
	/** Ours: the comparisons that filters by custom fields have, by type of field. */
	'x-custom-field-filters': recordOf(z.array(z.string())),
	/** Ours: the types of custom fields that are filtered by several values, separated by commas. */
	'x-custom-field-lists': optional(z.array(z.string())),
	parameters: unread,
	requestBody: z.unknown(),
	responses: optional(z.record(z.unknown())),
});

const pathItem = z.object({
	...reference,
	parameters: unread,
	get: z.unknown(),
	post: z.unknown(),
	put: z.unknown(),
	patch: z.unknown(),
	delete: z.unknown(),
});

// A document has megabytes, of which one node needs two operations: it is checked from outside, and what
// is inside is parsed by those who read it: pathItemAt(), operationOf() and readPart().
const document = z.object({
	openapi: z.string().regex(/^3\./),
	servers: listOf(z.object({ url: z.string() })),
	paths: z.record(z.unknown()),
	webhooks: optional(z.record(z.unknown())),
	components: optional(z.record(z.unknown())),
});

export type OpenApiDocument = z.infer<typeof document>;
export type OpenApiOperation = z.infer<typeof operation>;
export type OpenApiParameter = z.infer<typeof parameter>;
export type OpenApiResponse = z.infer<typeof response>;
export type PathItem = z.infer<typeof pathItem>;

/** Reads an OpenAPI 3 document; undefined where the JSON is not one. */
export function parseOpenApi(json: unknown): OpenApiDocument | undefined {
	const parsed = document.safeParse(json);
	return parsed.success ? parsed.data : undefined;
}

/** The parts of a document that are read one by one. */
export const parsers = { schema, parameter, requestBody, response, link, operation, pathItem };
