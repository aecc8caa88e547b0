import type { JsonObject } from '../../core/foundation/json.ts';
import { redactResult } from '../../domain/access/redaction.ts';
import { Problem } from '../../core/foundation/problem.ts';
import type { Job } from '../../core/schemas/jobs.ts';
import type { Service } from '../../core/service.ts';
import { hasEnded } from './job-queue.ts';

/** Maximum number of lines that are read at once. */
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
 * @throws Problem job_not_finished, results_expired
 */
export function resultLines(
	service: Service,
	job: Job,
	{ offset, limit }: Range,
	hasRecords: boolean,
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
	return ReadableStream.from(
		(function* () {
			let after = offset - 1;
			for (let remaining = limit; remaining > 0; ) {
				const lines = store.jobResults.page(job.id, after, Math.min(remaining, linesAtOnce));
				if (lines.length === 0) return;
				after = lines.at(-1)!.position;
				remaining -= lines.length;
				const texts = lines.map(({ text }) => (hasRecords ? text : withoutRecord(text)));
				yield encoder.encode(texts.map((text) => `${text}\n`).join(''));
			}
		})(),
	);
}

const withoutRecord = (line: string): string => JSON.stringify(redactResult(JSON.parse(line) as JsonObject));
