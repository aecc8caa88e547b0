import type { Context, MiddlewareHandler } from 'hono';
import { isObject, type JsonObject } from '../../core/foundation/json.ts';
import { Problem, validationFailed } from '../../core/foundation/problem.ts';

export const maxBodySize = 1024 * 1024;

/** The largest body of a batch. */
export const maxBatchBodySize = 5 * maxBodySize;

/** Refuses larger bodies. The client has sent all of the body when the refusal arrives, so the connection can be reused. */
export const limitBodyTo =
	(maxSize: number, detail: string): MiddlewareHandler =>
	async (c, next) => {
		const { byteLength } = await c.req.arrayBuffer().catch(() => {
			throw new Problem('malformed_json', 'The body ended before it was complete.');
		});
		if (byteLength > maxSize) throw new Problem('payload_too_large', detail);
		await next();
	};

export const limitBody = limitBodyTo(maxBodySize, 'A body may have at most 1 MiB (1,048,576 bytes).');

export const limitBatchBody = limitBodyTo(
	maxBatchBodySize,
	'The body of a batch may have at most 5 MiB (5,242,880 bytes). Send it in smaller batches.',
);

/**
 * Reads the bytes of a JSON body.
 *
 * @throws Problem unsupported_media_type
 */
export async function readBytes(c: Context): Promise<Uint8Array> {
	requireContentType(c, /^application\/json *(;|$)/i, 'Send the body as JSON with Content-Type: application/json');
	return new Uint8Array(await c.req.arrayBuffer());
}

/**
 * @param instruction names the expected type
 * @throws Problem unsupported_media_type
 */
export function requireContentType(c: Context, expected: RegExp, instruction: string): void {
	const type = c.req.header('Content-Type') ?? '';
	if (!expected.test(type)) throw new Problem('unsupported_media_type', `${instruction}${type && `, not ${type}`}.`);
	const encoding = c.req.header('Content-Encoding') ?? 'identity';
	if (encoding !== 'identity') throw new Problem('unsupported_media_type', `Send the body without Content-Encoding, not ${encoding}.`);
}

/** @throws Problem malformed_json */
export function parseJson(bytes: Uint8Array): unknown {
	return parseText('The body', decodeText(bytes));
}

/** @throws Problem malformed_json */
export function decodeText(bytes: Uint8Array): string {
	try {
		return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
	} catch {
		throw new Problem('malformed_json', 'The body is not valid UTF-8.');
	}
}

/**
 * @param subject `The body`, or a part of it
 * @throws Problem malformed_json
 */
export function parseText(subject: string, text: string): unknown {
	try {
		return JSON.parse(text);
	} catch (error) {
		throw new Problem('malformed_json', `${subject} is not valid JSON: ${(error as Error).message}.`);
	}
}

/** @throws Problem malformed_json, validation_failed */
export function parseJsonObject(bytes: Uint8Array): JsonObject {
	const value = parseJson(bytes);
	if (isObject(value)) return value;
	throw validationFailed([{ pointer: '', code: 'invalid_type', detail: 'The body must be a JSON object.' }]);
}
