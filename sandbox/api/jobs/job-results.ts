import { nextTurn } from '../../core/foundation/background.ts';
import type { JsonObject } from '../../core/foundation/json.ts';
import { redactResult } from '../../domain/access/redaction.ts';
import { Problem } from '../../core/foundation/problem.ts';
import type { Job } from '../../core/schemas/jobs.ts';
import type { Service } from '../../core/service.ts';
import { hasEnded } from './job-queue.ts';

/** Maximum number of lines that are read at once; fewer if they are large. */
const linesAtOnce = 200;

/** The requested results: how many to skip, and how many to return at most. */
export interface Range {
	offset: number;
	limit: number;
}

/**
 * Streams the results of a job as newline-delimited JSON, in the order of its lines.
 *
 * @param hasRecords whether results hold the written records, or only their ids and versions
 * @param requireAccess throws if the caller may no longer read; then the connection is closed
 * @throws Problem job_not_finished, results_expired
 */
export function resultLines(
	service: Service,
	job: Job,
	{ offset, limit }: Range,
	hasRecords: boolean,
	requireAccess: () => void,
): ReadableStream<Uint8Array> {
	const { store } = service;
	const now = new Date(service.now()).toISOString();
	if (!hasEnded(job)) {
		throw new Problem('job_not_finished', `The job is ${job.status}. Try again when it has ended.`, {
			headers: { 'Retry-After': '1' },
		});
	}
	if (job.results_expire_at! <= now) {
		throw new Problem('results_expired', `The results were kept until ${job.results_expire_at}.`);
	}
	const encoder = new TextEncoder();
	let after = offset - 1;
	let remaining = limit;
	return new ReadableStream({
		async pull(controller) {
			// Otherwise a fast client would receive the whole file at once, and all others would wait.
			await nextTurn();
			if (!store.isOpen) return controller.error(new Problem('unavailable', 'The service is shutting down.'));
			// A client may take hours to read; an error here ends the stream.
			requireAccess();
			const lines = store.jobResults.page(job.id, after, Math.min(remaining, linesAtOnce));
			if (lines.length === 0) return controller.close();
			after = lines.at(-1)!.position;
			remaining -= lines.length;
			const texts = lines.map(({ text }) => (hasRecords ? text : withoutRecord(text)));
			controller.enqueue(encoder.encode(texts.map((text) => `${text}\n`).join('')));
		},
	});
}

const withoutRecord = (line: string): string => JSON.stringify(redactResult(JSON.parse(line) as JsonObject));
