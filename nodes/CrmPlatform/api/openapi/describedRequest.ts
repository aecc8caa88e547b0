import { idempotencyHeaderOf, type IdempotencyHeader } from './idempotencyHeader';
import type { OpenApiDocument } from './openapi';
import { operationOf } from './documentParts';
import { pathItemAt, templatesFor } from './paths';

/**
 * Reads how the operation at a path takes idempotency keys.
 *
 * @param method of a request, in upper case
 * @param path of a request, such as `/v1/contacts/con_1`
 * @returns undefined if the document does not describe the operation
 */
export function describeRequest(
	document: OpenApiDocument,
	method: string,
	path: string,
): IdempotencyHeader | undefined {
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
