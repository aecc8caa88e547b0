import type { KeyFormat } from '../http/idempotency';
import { operationOf } from './documentParts';
import type { OpenApiDocument, OpenApiOperation, PathItem } from './openapi';
import { pathItemAt, templatesFor } from './paths';
import { flatten, parametersIn, schemaOf } from './schema';
import { parameterFor } from './usualNames';

/** How one operation takes idempotency keys. */
export interface IdempotencyHeader {
	/** The header that carries the key. */
	idempotencyHeader?: string;
	/** The required format of a key; any text if absent. */
	idempotencyKey?: KeyFormat;
}

/** Minimum length of a key that may have any text. */
const minKeyLength = 64;

/**
 * Reads the idempotency header of an operation (rules 5 and 6): a text of at least 64 characters, or a UUID. Empty if the
 * operation declares none, or one of another form: without a key, an uncertain write is not repeated.
 */
export function idempotencyHeaderOf(
	document: OpenApiDocument,
	pathItem: PathItem,
	operation: OpenApiOperation,
): IdempotencyHeader {
	const parameter = parameterFor('idempotencyKey', parametersIn(document, pathItem, operation, 'header'));
	if (parameter?.name === undefined) return {};
	const { format, pattern, maxLength } = flatten(document, schemaOf(parameter));
	if (format === 'uuid') return { idempotencyHeader: parameter.name, idempotencyKey: { isUuid: true } };
	if (pattern !== undefined || (maxLength ?? Infinity) < minKeyLength) return {};
	return { idempotencyHeader: parameter.name, ...(maxLength !== undefined && { idempotencyKey: { maxLength } }) };
}

/**
 * Reads the idempotency header of the operation at the path of a request, such as `/v1/contacts/con_1`.
 *
 * @param method in upper case
 * @returns undefined if the document does not describe the operation
 */
export function idempotencyHeaderAt(document: OpenApiDocument, method: string, path: string): IdempotencyHeader | undefined {
	const verb = method.toLowerCase() as 'post' | 'put' | 'patch' | 'delete';
	// The version prefix is part of the document's paths or of its server's address.
	for (const candidatePath of [path, path.replace(/^\/v1(?=\/)/, '')]) {
		for (const { key } of templatesFor(document, candidatePath)) {
			const pathItem = pathItemAt(document, key);
			const operation = pathItem && operationOf(pathItem, verb);
			if (pathItem && operation) return idempotencyHeaderOf(document, pathItem, operation);
		}
	}
	return undefined;
}
