import { createHash } from 'node:crypto';
import { TextDecoder } from 'node:util';
import type { Context } from 'hono';
import { Problem } from '../foundation/problem.ts';
import { jobLimits } from '../schemas/jobs.ts';
import type { Line } from '../store/job-lines.ts';


export interface Upload {
	lines: number;
	/** The SHA-256 of the whole body. */
	digest: Uint8Array;
}

/**
 * Receives a body of newline-delimited JSON. Lines are passed on as they arrive, so that memory holds
 * no more than one line and one chunk. Blank lines are skipped.
 *
 * @throws Problem unsupported_media_type, payload_too_large, malformed_json (not UTF-8, truncated),
 * validation_failed (no lines)
 */
export async function receiveLines(c: Context, keep: (lines: Line[]) => void): Promise<Upload> {
	refuseOtherType(c.req.header('Content-Type') ?? '');
	const hash = createHash('sha256');
	const decoder = new TextDecoder('utf-8', { fatal: true });
	let received = 0;
	let position = 0;
	let lines = 0;
	let rest = '';
	const handOn = (texts: string[]) => {
		const numbered = texts.map((text) => ({ position: position++, text }));
		const long = numbered.find(({ text }) => text.length > jobLimits.line_bytes);
		if (long) throw tooLarge(`Line ${long.position + 1} has more than 1 MiB.`);
		const given = numbered.filter(({ text }) => text.trim() !== '');
		lines += given.length;
		if (lines > jobLimits.lines) throw tooLarge('A job takes at most 100,000 lines.');
		keep(given);
	};
	for await (const bytes of chunksOf(c.req.raw.body)) {
		received += bytes.length;
		if (received > jobLimits.bytes) throw tooLarge('A job takes at most 50 MB (50,000,000 bytes).');
		hash.update(bytes);
		const texts = (rest + decode(decoder, bytes)).split('\n');
		rest = texts.pop()!;
		handOn(rest.length > jobLimits.line_bytes ? [...texts, rest] : texts);
	}
	handOn([rest + decode(decoder)]);
	if (lines > 0) return { lines, digest: hash.digest() };
	const detail = 'The body is empty. Send one JSON object per line.';
	throw new Problem('validation_failed', detail, {
		errors: [{ pointer: '', code: 'required', detail }],
	});
}

async function* chunksOf(body: ReadableStream<Uint8Array> | null): AsyncGenerator<Uint8Array> {
	const reader = body?.getReader();
	while (reader) {
		const { value, done } = await reader.read().catch(() => {
			throw new Problem('malformed_json', 'The body ended before it was complete.');
		});
		if (done) return;
		yield value;
	}
}

function decode(decoder: TextDecoder, bytes?: Uint8Array): string {
	try {
		return bytes ? decoder.decode(bytes, { stream: true }) : decoder.decode();
	} catch {
		throw new Problem('malformed_json', 'The body is not valid UTF-8.');
	}
}

function refuseOtherType(type: string): void {
	if (/^application\/(x-)?ndjson *(;|$)/i.test(type)) return;
	throw new Problem(
		'unsupported_media_type',
		'Send one JSON object per line with Content-Type: application/x-ndjson' +
			`${type && `, not ${type}`}.`,
	);
}

/** The rest of the body is not read, so the connection cannot be reused. */
const tooLarge = (detail: string): Problem =>
	new Problem('payload_too_large', `${detail} Send it as several jobs.`, {
		headers: { Connection: 'close' },
	});
