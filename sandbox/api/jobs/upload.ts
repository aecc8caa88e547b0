import { createHash } from 'node:crypto';
import { TextDecoder } from 'node:util';
import type { Context } from 'hono';
import { payloadTooLarge, requireContentType } from '../http/body.ts';
import { bodyChunks } from '../http/body-chunks.ts';
import { Problem, validationFailed } from '../../core/foundation/problem.ts';
import { jobLimits } from '../../core/schemas/jobs.ts';
import type { Line } from '../../core/store/job-lines.ts';

export interface Upload {
	lines: number;
	/** The SHA-256 of the whole body. */
	digest: Uint8Array;
}

const lineFeed = 0x0a;
/** JSON's white space, except the line feed: a line that has nothing else is blank. */
const blanks = new Set([0x09, 0x0d, 0x20]);

/**
 * Receives a body of newline-delimited JSON. Lines are passed on as they arrive, so that memory holds
 * no more than one line and one chunk. Blank lines are counted and skipped as bytes, because a body can
 * have fifty million of them.
 *
 * @throws Problem unsupported_media_type, payload_too_large, malformed_json (not UTF-8, truncated),
 * validation_failed (no lines)
 */
export async function receiveLines(c: Context, keep: (lines: Line[]) => void): Promise<Upload> {
	const instruction = 'Send one JSON object per line with Content-Type: application/x-ndjson';
	requireContentType(c, /^application\/(x-)?ndjson *(;|$)/i, instruction);
	const hash = createHash('sha256');
	let received = 0;
	let position = 0;
	let lines = 0;
	let rest: Uint8Array = new Uint8Array();
	const lineOf = (bytes: Uint8Array): Line[] => {
		const at = position++;
		if (bytes.length > jobLimits.line_bytes) throw tooLarge(`Line ${at + 1} has more than 1 MiB (1,048,576 bytes).`);
		if (bytes.every((byte) => blanks.has(byte))) return [];
		lines += 1;
		if (lines > jobLimits.lines) throw tooLarge('A job accepts at most 100,000 lines.');
		return [{ position: at, text: decode(bytes, at === 0) }];
	};
	for await (const bytes of bodyChunks(c)) {
		received += bytes.length;
		if (received > jobLimits.bytes) throw tooLarge('A job accepts at most 50 MB (50,000,000 bytes).');
		hash.update(bytes);
		const completeLines: Line[] = [];
		let start = 0;
		const skipEmptyLines = () => {
			for (; rest.length === 0 && bytes[start] === lineFeed; start++) position += 1;
		};
		skipEmptyLines();
		for (let end = bytes.indexOf(lineFeed, start); end >= 0; end = bytes.indexOf(lineFeed, start)) {
			const line = bytes.subarray(start, end);
			completeLines.push(...lineOf(rest.length === 0 ? line : Buffer.concat([rest, line])));
			rest = new Uint8Array();
			start = end + 1;
			skipEmptyLines();
		}
		rest = Buffer.concat([rest, bytes.subarray(start)]);
		if (rest.length > jobLimits.line_bytes) lineOf(rest);
		keep(completeLines);
	}
	keep(lineOf(rest));
	if (lines > 0) return { lines, digest: hash.digest() };
	throw validationFailed([{ pointer: '', code: 'required', detail: 'The body is empty. Send one JSON object per line.' }]);
}

const startOfFile = new TextDecoder('utf-8', { fatal: true });
/** Decodes the lines after the first: a byte order mark is text except at the start of a file. */
const laterLine = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true });

function decode(bytes: Uint8Array, isFirst: boolean): string {
	try {
		return (isFirst ? startOfFile : laterLine).decode(bytes);
	} catch {
		throw new Problem('malformed_json', 'The body is not valid UTF-8.');
	}
}

const tooLarge = (detail: string): Problem => payloadTooLarge(`${detail} Send it as several jobs.`);
