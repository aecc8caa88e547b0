import type { Context } from 'hono';
import { bodyLimit } from 'hono/body-limit';
import { isObject, type JsonObject } from '../foundation/json.ts';
import { Problem } from '../foundation/problem.ts';

export const largestBody = 1024 * 1024;

/** Of a batch. */
export const largestBatchBody = 5 * largestBody;

export const limitBody = limitTo(largestBody, 'A body may have at most 1 MiB (1,048,576 bytes).');

export const limitBatchBody = limitTo(
	largestBatchBody,
	'The body of a batch may have at most 5 MiB (5,242,880 bytes). Send it in smaller batches.',
);

function limitTo(maxSize: number, detail: string) {
	return bodyLimit({
		maxSize,
		onError() {
			throw new Problem('payload_too_large', detail, {
				// The rest of the body is not read, so the connection is of no more use.
				headers: { Connection: 'close' },
			});
		},
	});
}

/**
 * The bytes of a JSON object.
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
		throw new Problem('malformed_json', `The body cannot be read: ${(error as Error).message}.`);
	}
	refuseManyMembers(value);
	return value;
}

/** Of one list or object; more than any field or batch takes. */
const mostMembers = 5000;

/**
 * Looks at size before anything looks at content: zod collects what is wrong with each member of a
 * list, and runs out of stack where that is a hundred thousand members.
 *
 * @throws Problem validation_failed
 */
export function refuseManyMembers(value: unknown): void {
	// A list of what is still to be seen, as nesting may be deeper than calls can be.
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
	const detail = 'The body has to be a JSON object.';
	throw new Problem('validation_failed', detail, {
		errors: [{ pointer: '', code: 'invalid_type', detail }],
	});
}
