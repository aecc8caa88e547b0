import type { JsonObject } from '../../core/foundation/json.ts';
import { redactResult } from '../../domain/access/redaction.ts';
import { Problem } from '../../core/foundation/problem.ts';
import type { Job } from '../../core/schemas/jobs.ts';
import type { Service } from '../../core/service.ts';
import { hasEnded } from './job-queue.ts';

/** The requested results: how many to skip, and how many to return at most. */
export interface Range {
	offset: number;
	limit: number;
}

/**
 * The results of a job as newline-delimited JSON, in the order of its lines.
 *
 * @param hasRecords whether results hold the written records, or only their ids and versions
 * @throws Problem job_not_finished, results_expired
 */
export function resultLines(
	service: Service,
	job: Job,
	{ offset, limit }: Range,
	hasRecords: boolean,
): string {
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
	const texts = store.jobResults.page(job.id, offset - 1, limit).map(({ text }) => (hasRecords ? text : withoutRecord(text)));
	return texts.map((text) => `${text}\n`).join('');
}

const withoutRecord = (line: string): string => JSON.stringify(redactResult(JSON.parse(line) as JsonObject));
