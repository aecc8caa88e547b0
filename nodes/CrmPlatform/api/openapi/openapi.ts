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

const text = optional(z.string());
const number = optional(z.number());
const flag = optional(z.boolean());

// `true` stands for any value (JSON Schema, section 4.3.2), and so does a schema that makes no
// sense; `false` allows none.
const schema: Parser<Schema> = z.lazy(() =>
	z.unknown().transform((json, context): Schema => {
		if (json === false) context.addIssue({ code: 'custom', message: 'allows no value' });
		const parsed = schemaObject.safeParse(json);
		return parsed.success ? parsed.data : {};
	}),
);

const schemas = z.lazy(() => listOf(schema));

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
	required: listOf(z.string()),
	properties: z.lazy(() => recordOf(schema)),
	items: z.lazy(() => optional(schema)),
	allOf: schemas,
	anyOf: schemas,
	oneOf: schemas,
	'x-enum-labels': z.lazy(() => recordOf(z.string())),
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
	description: text,
	schema: optional(schema),
	content,
	style: text,
	explode: flag,
	'x-custom-fields': customFieldNames,
});

const requestBody = z.object({ ...reference, content });

const link = z.object({ ...reference, parameters: optional(z.record(z.unknown())) });

const response = z.object({ ...reference, content, links: recordOf(link) });

const operation = z.object({
	operationId: text,
	/** Ours: the operation that does the same for many records at once, by its operationId. */
	'x-batch': text,
	'x-job': optional(z.object({ operationId: z.string(), parameters: recordOf(z.string()) })),
	'x-custom-fields': customFieldNames,
	parameters: listOf(parameter),
	requestBody: optional(requestBody),
	responses: recordOf(response),
});

const pathItem = z.object({
	...reference,
	parameters: listOf(parameter),
	get: optional(operation),
	post: optional(operation),
	put: optional(operation),
	patch: optional(operation),
	delete: optional(operation),
});

// A document has megabytes, of which one node needs two paths: it is checked from outside, and what
// is inside is parsed by those who read it, pathItemAt() and resolve().
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

/** Reads a path of a document; undefined where it cannot be read. */
export function parsePathItem(json: unknown): PathItem | undefined {
	const parsed = pathItem.safeParse(json);
	return parsed.success ? parsed.data : undefined;
}

/** Reads an OpenAPI 3 document; undefined where the JSON is not one. */
export function parseOpenApi(json: unknown): OpenApiDocument | undefined {
	const parsed = document.safeParse(json);
	return parsed.success ? parsed.data : undefined;
}

const parsers = { schema, parameter, requestBody, response, link, pathItem };

type Referable = { [Kind in keyof typeof parsers]: z.infer<(typeof parsers)[Kind]> };

/**
 * Follows references inside the document (JSON Pointer, RFC 6901). What stands beside a reference
 * takes precedence over what it refers to (OpenAPI 3.1, section 4.8.23; generators do it for 3.0).
 *
 * @returns an object that says nothing where the reference leads nowhere or in a circle
 */
export function resolve<Kind extends keyof Referable>(
	document: OpenApiDocument,
	value: Referable[Kind],
	kind: Kind,
): Referable[Kind] {
	let current: Referable[Kind] = value;
	for (let depth = 0; current.$ref !== undefined; depth++) {
		const { $ref, ...siblings } = current;
		const parsed = depth > 20 ? undefined : parsers[kind].safeParse(pointedAt(document, $ref));
		const target = (parsed?.success ? parsed.data : {}) as Referable[Kind];
		current = { ...target, ...defined(siblings) };
	}
	return current;
}

/** The JSON at `#/components/schemas/Contact/properties/address`, references on the way followed. */
function pointedAt(document: OpenApiDocument, reference: string, depth = 0): unknown {
	if (!reference.startsWith('#/') || depth > 20) return undefined;
	let value: unknown = document;
	for (const step of reference.slice(2).split('/')) {
		const { $ref } = (isObjectOrList(value) ? value : {}) as { $ref?: unknown };
		if (typeof $ref === 'string') value = pointedAt(document, $ref, depth + 1);
		const key = decoded(step).replace(/~1/g, '/').replace(/~0/g, '~');
		if (!isObjectOrList(value) || !Object.hasOwn(value, key)) return undefined;
		value = (value as Record<string, unknown>)[key];
	}
	return value;
}

function decoded(step: string): string {
	try {
		return decodeURIComponent(step);
	} catch {
		return step;
	}
}

const isObjectOrList = (value: unknown): value is object => typeof value === 'object' && value !== null;

/** The members of an object that have a value. */
export function defined<T extends object>(object: T): Partial<T> {
	return Object.fromEntries(Object.entries(object).filter(([, value]) => value !== undefined)) as Partial<T>;
}
