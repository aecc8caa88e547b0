import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { isObject, type JsonObject } from '../../core/foundation/json.ts';
import { Problem, validationFailed } from '../../core/foundation/problem.ts';
import type { Env } from '../../core/service.ts';
import { bodyChunks, isCompressed } from './body-chunks.ts';
import { refuseTooManyValues } from './body-limits.ts';

export const maxBodySize = 1024 * 1024;

/** The largest body of a batch. */
export const maxBatchBodySize = 5 * maxBodySize;

export const limitBody = limitTo(maxBodySize, 'A body may have at most 1 MiB (1,048,576 bytes).');

export const limitBatchBody = limitTo(
	maxBatchBodySize,
	'The body of a batch may have at most 5 MiB (5,242,880 bytes). Send it in smaller batches.',
);

function limitTo(maxSize: number, detail: string): MiddlewareHandler<Env> {
	const onError = () => {
		throw payloadTooLarge(detail);
	};
	const limit = bodyLimit({ maxSize, onError });
	return async (c, next) => {
		if (!isCompressed(c)) {
			const response = await limit(c, next);
			await receiveRest(c, maxSize);
			return response;
		}
		const { url, method, headers } = c.req.raw;
		const body = await readUpTo(bodyChunks(c), maxSize, onError);
		c.req.raw = new Request(url, { method, headers, body });
		await next();
	};
}

/** The rest of the body is not read, so the connection cannot be reused. */
export const payloadTooLarge = (detail: string): Problem =>
	new Problem('payload_too_large', detail, { headers: { Connection: 'close' } });

/**
 * Receives the rest of a refused body. Otherwise the connection would be destroyed during the client's next request,
 * or before the client has the response.
 */
async function receiveRest(c: Context<Env>, maxSize: number): Promise<void> {
	if (c.env?.incoming?.complete !== false || c.req.raw.bodyUsed) return;
	let size = 0;
	const rest = new WritableStream<Uint8Array>({
		write(chunk) {
			size += chunk.length;
			if (size > maxSize) throw new Error('The rest is too large to be received.');
		},
	});
	await c.req.raw.body?.pipeTo(rest).catch(() => c.res.headers.set('Connection', 'close'));
}

/** For a handler that reads the body itself, and may refuse the request before. */
export const receiveUnread =
	(maxSize: number): MiddlewareHandler<Env> =>
	async (c, next) => {
		await next();
		await receiveRest(c, maxSize);
	};

async function readUpTo(
	body: AsyncIterable<Uint8Array>,
	maxSize: number,
	onTooLarge: () => never,
): Promise<Uint8Array<ArrayBuffer>> {
	const chunks: Uint8Array[] = [];
	let size = 0;
	for await (const chunk of body) {
		size += chunk.length;
		if (size > maxSize) onTooLarge();
		chunks.push(chunk);
	}
	return new Uint8Array(Buffer.concat(chunks));
}

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
}

/** @throws Problem malformed_json, validation_failed (see `parseText`) */
export function parseJson(bytes: Uint8Array): unknown {
	try {
		return parseText('The body', new TextDecoder('utf-8', { fatal: true }).decode(bytes));
	} catch (error) {
		if (error instanceof Problem) throw error;
		throw malformed('The body', error as Error);
	}
}

/**
 * @param subject `The body`, or a part of it
 * @throws Problem malformed_json, validation_failed for a body with too many values
 */
export function parseText(subject: string, text: string): unknown {
	refuseTooManyValues(text);
	try {
		return JSON.parse(text);
	} catch (error) {
		throw malformed(subject, error as Error);
	}
}

const malformed = (subject: string, { message }: Error): Problem =>
	new Problem('malformed_json', `${subject} is not valid JSON: ${message}.`);

/** @throws Problem malformed_json, validation_failed */
export function parseJsonObject(bytes: Uint8Array): JsonObject {
	const value = parseJson(bytes);
	if (isObject(value)) return value;
	throw validationFailed([{ pointer: '', code: 'invalid_type', detail: 'The body must be a JSON object.' }]);
}
