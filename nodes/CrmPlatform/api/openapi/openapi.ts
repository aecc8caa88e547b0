import { z } from 'zod';

/** The part of a JSON Schema (OpenAPI 3.0 and 3.1) the connector reads. */
export interface Schema {
	$ref?: string | undefined;
	type?: string | string[] | undefined;
	title?: string | undefined;
	description?: string | undefined;
	format?: string | undefined;
	enum?: unknown[] | undefined;
	const?: unknown;
	maximum?: number | undefined;
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
	/** Ours: the records an id belongs to, such as `companies`. */
	'x-resource'?: string | undefined;
	/** Ours: the part of other records an id belongs to, such as `pipelines.stages`. */
	'x-item-of'?: string | undefined;
}

const schema: z.ZodType<Schema, z.ZodTypeDef, unknown> = z.lazy(() =>
	z.object({
		$ref: z.string().optional(),
		type: z.union([z.string(), z.array(z.string())]).optional(),
		title: z.string().optional(),
		description: z.string().optional(),
		format: z.string().optional(),
		enum: z.array(z.unknown()).optional(),
		const: z.unknown(),
		maximum: z.number().optional(),
		maxItems: z.number().optional(),
		default: z.unknown(),
		nullable: z.boolean().optional(),
		readOnly: z.boolean().optional(),
		required: z.array(z.string()).optional(),
		properties: z.record(schema).optional(),
		// JSON Schema allows `true` in place of a schema.
		items: schema.optional().catch(undefined),
		allOf: z.array(schema).optional(),
		anyOf: z.array(schema).optional(),
		oneOf: z.array(schema).optional(),
		'x-lower-case': z.boolean().optional().catch(undefined),
		'x-resource': z.string().optional(),
		'x-item-of': z.string().optional(),
	}),
);

const reference = { $ref: z.string().optional() };
const content = z.record(z.object({ schema: schema.optional() })).optional();

/** Ours: how custom fields are named where the account's stand beside the document's own. */
const customFieldNames = z.literal('custom_fields.{key}').optional().catch(undefined);

const parameter = z.object({
	...reference,
	name: z.string().optional(),
	in: z.string().optional(),
	required: z.boolean().optional(),
	description: z.string().optional(),
	schema: schema.optional(),
	'x-custom-fields': customFieldNames,
});

const requestBody = z.object({ ...reference, content });

const link = z.object({ ...reference, parameters: z.record(z.unknown()).optional() });

const response = z.object({ ...reference, content, links: z.record(link).optional() });

const operation = z.object({
	operationId: z.string().optional(),
	/** Ours: the operation that does the same for many records at once, by its operationId. */
	'x-batch': z.string().optional(),
	'x-custom-fields': customFieldNames,
	parameters: z.array(parameter).optional(),
	requestBody: requestBody.optional(),
	responses: z.record(response).optional(),
});

const pathItem = z.object({
	parameters: z.array(parameter).optional(),
	get: operation.optional(),
	post: operation.optional(),
	put: operation.optional(),
	patch: operation.optional(),
	delete: operation.optional(),
});

// Looked at from outside: a document has megabytes, of which one node needs two paths. What is
// inside is parsed by those who read it, pathItemAt() and resolve().
const document = z.object({
	openapi: z.string().regex(/^3\./),
	paths: z.record(z.unknown()),
	webhooks: z.record(z.unknown()).optional(),
	components: z.record(z.record(z.unknown()).catch({})).optional(),
});

export type OpenApiDocument = z.infer<typeof document>;
export type OpenApiOperation = z.infer<typeof operation>;
export type OpenApiParameter = z.infer<typeof parameter>;
export type PathItem = z.infer<typeof pathItem>;

/** Reads an OpenAPI 3 document; undefined where the JSON is none. */
export function parseOpenApi(json: unknown): OpenApiDocument | undefined {
	const parsed = document.safeParse(json);
	return parsed.success ? parsed.data : undefined;
}

/** What the document says of a path; undefined where it says nothing that can be read. */
export function pathItemAt({ paths }: OpenApiDocument, path: string): PathItem | undefined {
	const parsed = pathItem.safeParse(paths[path]);
	return parsed.success ? parsed.data : undefined;
}

/** The path of the POST operation of that operationId. */
export function pathOfPost({ paths }: OpenApiDocument, operationId: string): string | undefined {
	const named = z.object({ post: z.object({ operationId: z.literal(operationId) }) });
	return Object.keys(paths).find((path) => named.safeParse(paths[path]).success);
}

const sections: Record<string, z.ZodTypeAny> = {
	schemas: schema,
	parameters: parameter,
	requestBodies: requestBody,
	responses: response,
	links: link,
};

/**
 * Follows `#/components/…` references.
 *
 * @returns the referenced object, or an empty one where the reference leads nowhere or in a circle
 */
export function resolve<T extends { $ref?: string | undefined }>(
	document: OpenApiDocument,
	value: T,
): T {
	let current = value;
	for (let depth = 0; current.$ref !== undefined; depth++) {
		const [hash, components, section = '', name = ''] = current.$ref.split('/');
		if (hash !== '#' || components !== 'components' || depth > 20) return {} as T;
		const entry = document.components?.[section]?.[decodeURIComponent(name)];
		const parsed = sections[section]?.safeParse(entry);
		current = (parsed?.success ? parsed.data : {}) as T;
	}
	return current;
}
