import { readParameter, type OpenApiDocument, type OpenApiOperation, type OpenApiParameter } from './openapi';
import { flatten, namedValues } from './schema';

type Location = 'query' | 'header';

/** The parameters of an operation in one place. */
export function parametersIn(document: OpenApiDocument, operation: OpenApiOperation, location: Location): OpenApiParameter[] {
	const byName = new Map<string, OpenApiParameter>();
	for (const json of operation.parameters ?? []) {
		const parameter = readParameter(document, json);
		if (parameter.in === location && parameter.name !== undefined) byName.set(parameter.name, parameter);
	}
	return [...byName.values()];
}

/** Whether an operation has a parameter of this name, in any case. */
export const hasParameter = (document: OpenApiDocument, operation: OpenApiOperation, location: Location, usual: string): boolean =>
	parametersIn(document, operation, location).some(({ name = '' }) => name.toLowerCase() === usual.toLowerCase());

/** The texts that a parameter accepts, alone or as a list. */
export function parameterChoices(document: OpenApiDocument, parameter: OpenApiParameter): string[] {
	const schema = flatten(document, parameter.schema);
	const values = namedValues(document, schema);
	return (values.length > 0 ? values : namedValues(document, flatten(document, schema.items))).filter((value) => typeof value === 'string');
}

/**
 * The names that the connector looks for where the source of the API names nothing: rule 5 of docs/reference/service.md. Of several
 * that a description has, the first counts; a name that is not here is a filter, or unknown.
 */
const usualNames = {
	cursor: ['cursor', 'page_token', 'after'],
	// A limit beside a page size applies to the whole list.
	pageSize: ['page_size', 'per_page', 'limit'],
	sort: ['sort', 'order_by', 'order'],
	search: ['q', 'search', 'query'],
	fields: ['fields', 'select'],
	idempotencyKey: ['Idempotency-Key', 'X-Idempotency-Key'],
} as const;

/** The parameter with the first of a role's names, in any case. */
export function parameterFor(role: keyof typeof usualNames, parameters: OpenApiParameter[]): OpenApiParameter | undefined {
	const named = (usual: string) => parameters.find(({ name = '' }) => name.toLowerCase() === usual.toLowerCase());
	return usualNames[role].map(named).find(Boolean);
}
