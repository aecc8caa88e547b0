import type { Context } from 'hono';
import { Readable } from 'node:stream';
import { nextTurn } from '../../core/foundation/background.ts';
import { createGunzip } from 'node:zlib';
import { Problem } from '../../core/foundation/problem.ts';

/** @throws Problem unsupported_media_type */
export function isCompressed(c: Context): boolean {
	const encoding = c.req.header('Content-Encoding')?.trim().toLowerCase() ?? '';
	if (['', 'identity', 'gzip'].includes(encoding)) return encoding === 'gzip';
	throw new Problem('unsupported_media_type', `Send the body with Content-Encoding: gzip or none, not ${encoding}.`, {
		headers: { 'Accept-Encoding': 'gzip' },
	});
}

/**
 * Reads and decompresses a body in parts, because a small one can expand to a very large one. Other requests
 * are answered between the parts.
 *
 * @throws Problem malformed_json if the body is truncated, or is not compressed as its header says
 */
export async function* bodyChunks(c: Context): AsyncGenerator<Uint8Array> {
	for await (const chunk of isCompressed(c) ? decompressed(received(c)) : received(c)) {
		yield chunk;
		await nextTurn();
	}
}

async function* received(c: Context): AsyncGenerator<Uint8Array> {
	const reader = (c.req.raw.body as ReadableStream<Uint8Array> | null)?.getReader();
	while (reader) {
		const { value, done } = await reader.read().catch(() => {
			throw new Problem('malformed_json', 'The body ended before it was complete.');
		});
		if (done) return;
		yield value;
	}
}

/** By how many bytes a compressed body may be larger than twice its content. */
const overhead = 1024 * 1024;

/**
 * Decompresses a body. It may consist of several gzip members (RFC 1952, 2.2). Anything after them is refused: zlib would
 * ignore whatever follows a zero byte. A body with almost no content is refused, too, because nothing else limits
 * its size.
 */
async function* decompressed(compressed: AsyncIterable<Uint8Array>): AsyncGenerator<Uint8Array> {
	let [bytes, content] = [0, 0];
	const gunzip = createGunzip();
	const refuseMostlyEmpty = () => {
		if (gunzip.bytesWritten <= 2 * content + overhead) return;
		throw new Problem('payload_too_large', 'The compressed body is more than twice as large as its content.');
	};
	const countBytes = async function* () {
		for await (const chunk of compressed) {
			bytes += chunk.length;
			refuseMostlyEmpty();
			yield chunk;
		}
	};
	const source = Readable.from(countBytes());
	source.once('error', (error) => gunzip.destroy(error));
	try {
		for await (const chunk of source.pipe(gunzip) as AsyncIterable<Uint8Array>) {
			content += chunk.length;
			yield chunk;
		}
		refuseMostlyEmpty();
		if (gunzip.bytesWritten < bytes) throw new Problem('malformed_json', 'The body has bytes that do not belong to a gzip member.');
	} catch (error) {
		const isBroken = (error as { code?: string }).code?.startsWith('Z_');
		throw isBroken ? new Problem('malformed_json', 'The body is not valid gzip.') : error;
	} finally {
		source.destroy();
	}
}
