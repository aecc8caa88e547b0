import type { Context } from 'hono';
import { decodeText, requireContentType } from '../http/body.ts';
import { Problem, validationFailed } from '../../core/foundation/problem.ts';
import { jobLimits } from '../../core/schemas/jobs.ts';
import type { Line } from '../../core/store/job-lines.ts';

/**
 * Reads a body of newline-delimited JSON. Blank lines are counted and skipped.
 *
 * @throws Problem unsupported_media_type, payload_too_large, malformed_json (not UTF-8), validation_failed (no lines)
 */
export async function receiveLines(c: Context): Promise<{ bytes: Uint8Array; lines: Line[] }> {
	requireContentType(
		c,
		/^application\/(x-)?ndjson *(;|$)/i,
		'Send one JSON object per line with Content-Type: application/x-ndjson',
	);
	const bytes = new Uint8Array(await c.req.arrayBuffer());
	const lines = decodeText(bytes).split('\n').map((text, position) => ({ position, text }))
		.filter(({ text }) => /[^\t\r ]/.test(text));
	const tooLong = lines.find(({ text }) => Buffer.byteLength(text) > jobLimits.line_bytes);
	if (tooLong) throw tooLarge(`Line ${tooLong.position + 1} has more than 1 MiB (1,048,576 bytes).`);
	if (lines.length > jobLimits.lines) throw tooLarge('A job accepts at most 100,000 lines.');
	if (lines.length > 0) return { bytes, lines };
	throw validationFailed([{ pointer: '', code: 'required', detail: 'The body is empty. Send one JSON object per line.' }]);
}

const tooLarge = (detail: string): Problem => new Problem('payload_too_large', `${detail} Send it as several jobs.`);
