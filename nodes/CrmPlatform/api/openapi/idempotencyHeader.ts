import type { OpenApiDocument, OpenApiOperation, PathItem } from './openapi';
import { flatten, parametersIn } from './schema';

/** How one operation takes idempotency keys. */
export interface IdempotencyHeader {
	/** The header that carries the key. */
	idempotencyHeader?: string;
	/** What the service demands of an idempotency key; any text where absent. */
	idempotencyKey?: { maxLength?: number; isUuid?: true };
}

/** Reads the idempotency header of an operation; empty where the operation declares none. */
export function idempotencyHeaderOf(
	document: OpenApiDocument,
	pathItem: PathItem,
	operation: OpenApiOperation,
): IdempotencyHeader {
	const parameter = parametersIn(document, pathItem, operation, 'header').find(({ name = '' }) =>
		/idempotency/i.test(name),
	);
	if (parameter?.name === undefined) return {};
	const { format, maxLength } = flatten(document, parameter.schema ?? {});
	const header: IdempotencyHeader = { idempotencyHeader: parameter.name };
	if (format === 'uuid') header.idempotencyKey = { isUuid: true };
	else if (maxLength !== undefined) header.idempotencyKey = { maxLength };
	return header;
}
