import { resolve, type OpenApiDocument, type OpenApiOperation, type OpenApiParameter, type PathItem, type Schema } from './openapi';

/** References followed, `allOf` merged, and `X or null` (3.0 and 3.1 manner) read as X. */
export function flatten(document: OpenApiDocument, schema: Schema): Schema {
	const own = resolve(document, schema);
	const alternatives = [...(own.anyOf ?? []), ...(own.oneOf ?? [])]
		.map((alternative) => resolve(document, alternative))
		.filter((alternative) => alternative.type !== 'null');
	const parts = [...(own.allOf ?? []), ...(alternatives.length === 1 ? alternatives : [])];
	return parts
		.map((part) => flatten(document, part))
		.reduceRight(
			(merged, part) => ({
				...part,
				...withoutUndefined(merged),
				properties:
					part.properties || merged.properties
						? { ...part.properties, ...merged.properties }
						: undefined,
				required: [...(part.required ?? []), ...(merged.required ?? [])],
			}),
			own,
		);
}

function withoutUndefined(schema: Schema): Schema {
	return Object.fromEntries(Object.entries(schema).filter(([, value]) => value !== undefined));
}

/** The parameters of an operation in one place (`query`, `header`), its path's included. */
export function parametersIn(
	document: OpenApiDocument,
	pathItem: PathItem,
	operation: OpenApiOperation,
	place: string,
): OpenApiParameter[] {
	return [...(pathItem.parameters ?? []), ...(operation.parameters ?? [])]
		.map((parameter) => resolve(document, parameter))
		.filter((parameter) => parameter.in === place);
}

/** The values a parameter takes, one by one or as a list. */
export function parameterChoices(document: OpenApiDocument, { schema = {} }: OpenApiParameter): string[] {
	const own = flatten(document, schema);
	// Beside those that can be named, a parameter may take others by a pattern.
	const named = (own.anyOf ?? []).map((one) => flatten(document, one).enum).find(Boolean);
	const values = own.enum ?? flatten(document, own.items ?? {}).enum ?? named ?? [];
	return values.filter((value) => typeof value === 'string');
}

/** The schema of a JSON request or response body. */
export function jsonSchema({
	content = {},
}: {
	content?: Record<string, { schema?: Schema | undefined }> | undefined;
}): Schema | undefined {
	return Object.entries(content).find(([type]) => type.includes('json'))?.[1].schema;
}
