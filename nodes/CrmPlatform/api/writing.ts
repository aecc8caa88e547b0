import { fieldsOf, type Field } from './fields';
import { resolve, type OpenApiDocument, type PathItem } from './openapi';
import { choices, jsonSchema, parametersIn } from './schema';

/** How one kind of record is written. */
export interface WriteDescription {
	method: 'POST' | 'PUT' | 'PATCH' | 'DELETE';
	fields: Field[];
	/** The header that carries the idempotency key. */
	idempotencyHeader?: string;
	/** The parameter that names the field to match on, and the fields it takes (upsert). */
	match?: { name: string; values: string[] };
}

/** Reads what a write operation takes. */
export function describeWrite(
	document: OpenApiDocument,
	pathItem: PathItem,
	verb: 'post' | 'put' | 'patch' | 'delete',
): WriteDescription {
	const operation = pathItem[verb] ?? {};
	const method = verb.toUpperCase() as WriteDescription['method'];
	const description: WriteDescription = { method, fields: [] };

	const body = jsonSchema(resolve(document, operation.requestBody ?? {}));
	if (body) description.fields = fieldsOf(document, body);
	const header = parametersIn(document, pathItem, operation, 'header').find(({ name = '' }) =>
		/idempotency/i.test(name),
	);
	if (header?.name !== undefined) description.idempotencyHeader = header.name;
	const match = parametersIn(document, pathItem, operation, 'query').find(
		(parameter) => choices(document, parameter).length > 0,
	);
	if (match?.name !== undefined) {
		description.match = { name: match.name, values: choices(document, match) };
	}
	return description;
}
