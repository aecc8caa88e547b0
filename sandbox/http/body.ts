import type { Context, MiddlewareHandler } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { isObject, type JsonObject } from '../foundation/json.ts';
import { Problem } from '../foundation/problem.ts';

export const largestBody = 1024 * 1024;

/** The largest body of a batch. */
export const largestBatchBody = 5 * largestBody;

export const limitBody = limitTo(largestBody, 'A body may have at most 1 MiB (1,048,576 bytes).');

export const limitBatchBody = limitTo(
	largestBatchBody,
	'The body of a batch may have at most 5 MiB (5,242,880 bytes). Send it in smaller batches.',
);

function limitTo(maxSize: number, detail: string): MiddlewareHandler {
	const onError = () => {
		throw new Problem('payload_too_large', detail, {
			// The rest of the body is not read, so the connection cannot be reused.
			headers: { Connection: 'close' },
		});
	};
	const limit = bodyLimit({ maxSize, onError });
	return (c, next) =>
		limit(c, async () => {
			const body = decodedBody(c);
			if (body && body !== c.req.raw.body) {
				const { url, method, headers } = c.req.raw;
				c.req.raw = new Request(url, { method, headers, body: await readUpTo(body, maxSize, onError) });
			}
			await next();
		});
}

/** The body without its compression, as a stream: a small body can unfold to a very large one. */
export function decodedBody(c: Context): ReadableStream<Uint8Array> | null {
	const { body } = c.req.raw;
	const encoding = c.req.header('Content-Encoding')?.trim().toLowerCase() ?? '';
	if (['', 'identity'].includes(encoding)) return body;
	if (encoding !== 'gzip') {
		throw new Problem('unsupported_media_type', `Send the body with Content-Encoding: gzip or none, not ${encoding}.`, {
			headers: { 'Accept-Encoding': 'gzip' },
		});
	}
	return body && body.pipeThrough(new DecompressionStream('gzip') as TransformStream<Uint8Array, Uint8Array>);
}

async function readUpTo(
	body: ReadableStream<Uint8Array>,
	maxSize: number,
	onTooLarge: () => never,
): Promise<Uint8Array<ArrayBuffer>> {
	const chunks: Uint8Array[] = [];
	let size = 0;
	for await (const chunk of chunksOf(body)) {
		size += chunk.length;
		if (size > maxSize) onTooLarge();
		chunks.push(chunk);
	}
	return new Uint8Array(Buffer.concat(chunks));
}

/** @throws Problem malformed_json if the body breaks off, or is not compressed as it says */
export async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
	const reader = body?.getReader();
	while (reader) {
		const { value, done } = await reader.read().catch((error: unknown) => {
			const isBroken = (error as { code?: string }).code?.startsWith('Z_');
			throw new Problem(
				'malformed_json',
				isBroken ? 'The body is not valid gzip.' : 'The body ended before it was complete.',
			);
		});
		if (done) return;
		yield value;
	}
}

/**
 * Reads the bytes of a JSON body.
 *
 * @throws Problem unsupported_media_type
 */
export async function readBytes(c: Context): Promise<Uint8Array> {
	const type = c.req.header('Content-Type') ?? '';
	if (!/^application\/json *(;|$)/i.test(type)) {
		throw new Problem(
			'unsupported_media_type',
			`Send the body as JSON with Content-Type: application/json${type && `, not ${type}`}.`,
		);
	}
	return new Uint8Array(await c.req.arrayBuffer());
}

/** @throws Problem malformed_json, validation_failed (too many members) */
export function parseJson(bytes: Uint8Array): unknown {
	let value: unknown;
	try {
		value = JSON.parse(new TextDecoder('utf-8', { fatal: true }).decode(bytes));
	} catch (error) {
		throw new Problem('malformed_json', `The body is not valid JSON: ${(error as Error).message}.`);
	}
	refuseManyMembers(value);
	return value;
}

/** The most members of a list or object; more than any field or batch takes. */
const mostMembers = 5000;

/**
 * Checks sizes before zod validates the content: zod collects the issues of every member of a list, and
 * overflows the stack with a hundred thousand of them.
 *
 * @throws Problem validation_failed
 */
export function refuseManyMembers(value: unknown): void {
	// An explicit stack, because nesting may be deeper than the call stack allows.
	const rest: unknown[] = [[value]];
	while (rest.length > 0) {
		const members = Object.values(rest.pop() as object);
		if (members.length > mostMembers) {
			const detail = `A list or an object may have at most ${mostMembers} members.`;
			throw new Problem('validation_failed', detail, {
				errors: [{ pointer: '', code: 'too_long', detail }],
			});
		}
		for (const member of members) {
			if (typeof member === 'object' && member !== null) rest.push(member);
		}
	}
}

/** @throws Problem malformed_json, validation_failed */
export function parseJsonObject(bytes: Uint8Array): JsonObject {
	const value = parseJson(bytes);
	if (isObject(value)) return value;
	const detail = 'The body must be a JSON object.';
	throw new Problem('validation_failed', detail, {
		errors: [{ pointer: '', code: 'invalid_type', detail }],
	});
}
