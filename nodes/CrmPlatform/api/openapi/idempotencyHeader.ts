import { canMakeKeys, type KeyFormat } from '../http/idempotency';
import { operationOf } from './documentParts';
import type { OpenApiDocument, OpenApiOperation, OpenApiParameter, PathItem } from './openapi';
import { pathItemAt, templatesFor } from './paths';
import { flatten, parametersIn, schemaOf } from './schema';

/** How one operation takes idempotency keys. */
export interface IdempotencyHeader {
	/** The header that carries the key. */
	idempotencyHeader?: string;
	/** The required format of a key; any text if absent. */
	idempotencyKey?: KeyFormat;
}

/**
 * Reads the idempotency header of an operation; empty if the operation declares none, if it is unclear which header
 * carries the key, or if the key is optional and of a form that the node cannot create. A key in the wrong header would
 * give false safety: without a key, an uncertain write is not repeated.
 */
export function idempotencyHeaderOf(
	document: OpenApiDocument,
	pathItem: PathItem,
	operation: OpenApiOperation,
): IdempotencyHeader {
	const headers = parametersIn(document, pathItem, operation, 'header').filter(
		(header) => keyName(header) !== undefined && takesText(document, header),
	);
	const parameter = clearestOf(headers);
	if (parameter?.name === undefined) return {};
	const { format, pattern, minLength, maxLength } = flatten(document, schemaOf(parameter));
	const idempotencyKey: KeyFormat = {
		...(format === 'uuid' ? { isUuid: true } : maxLength !== undefined && { maxLength }),
		...(minLength !== undefined && format !== 'uuid' && { minLength }),
		...(pattern !== undefined && { pattern }),
	};
	if (!parameter.required && !canMakeKeys(idempotencyKey)) return {};
	const header: IdempotencyHeader = { idempotencyHeader: parameter.name };
	return Object.keys(idempotencyKey).length > 0 ? { ...header, idempotencyKey } : header;
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

/**
 * The words of a header's name if they say that it is a key: `key` for `X-Idempotency-Key`, `acme key` for
 * `Acme-Idempotency-Key`. `Idempotency-Key-TTL` and `Idempotency-Replayed` say something else.
 */
function keyName({ name = '' }: OpenApiParameter): string | undefined {
	const words = name.replace(/([a-z])([A-Z])/g, '$1 $2').toLowerCase().match(/[a-z]+|\d+/g) ?? [];
	const place = words.findIndex((word) => /^idempoten(t|cy|ce)(key|token|id)?$/.test(word));
	const after = words.slice(place + 1);
	if (place < 0 || !after.every((word) => ['key', 'token', 'id', 'identifier', 'uuid', 'value'].includes(word))) return undefined;
	return [...words.slice(0, place).filter((word) => !['x', 'request', 'http', 'api', 'client'].includes(word)), 'key'].join(' ');
}

/** The header that carries the key; undefined if several may, or if the only candidate is optional and its name says more. */
function clearestOf(headers: OpenApiParameter[]): OpenApiParameter | undefined {
	const current = headers.filter((header) => !header.deprecated);
	const candidates = current.length > 0 ? current : headers;
	const plain = candidates.filter((header) => keyName(header) === 'key');
	const required = (plain.length > 0 ? plain : candidates).filter(({ required: isRequired }) => isRequired);
	const standard = plain.filter(({ name = '' }) => /^idempotency-key$/i.test(name));
	return [required, standard, plain].find(({ length }) => length === 1)?.[0];
}

function takesText(document: OpenApiDocument, header: OpenApiParameter): boolean {
	const { type, enum: values, const: single, format = '' } = flatten(document, schemaOf(header));
	const types = [type ?? 'string'].flat();
	return types.includes('string') && !values && single === undefined && !/^(date|time|duration|int|float|double)/.test(format);
}
