import type { JsonObject } from '../collection/merge.ts';
import { resultWithoutReading } from '../collection/reading.ts';
import { invalidParameter, Problem } from '../problem.ts';
import type { Job } from '../schemas/jobs.ts';
import type { Service } from '../service.ts';
import { hasEnded } from './queue.ts';

const linesAtOnce = 500;

/** Which results: so many at most, after so many that are left out. */
export interface Range {
	offset: number;
	limit: number;
}

/** @throws Problem invalid_parameter */
export function parseRange(given: Map<string, string>): Range {
	const wholeNumber = (name: string, smallest: number): number | undefined => {
		const text = given.get(name);
		if (text === undefined) return undefined;
		if (/^\d{1,9}$/.test(text) && Number(text) >= smallest) return Number(text);
		throw invalidParameter(name, `${name} has to be a whole number from ${smallest} up.`);
	};
	return { offset: wholeNumber('offset', 0) ?? 0, limit: wholeNumber('limit', 1) ?? Infinity };
}

/**
 * The results of a job as newline-delimited JSON, in the order of its lines, read from the store
 * while they are sent.
 *
 * @param mayRead whether the caller may read the records; else only their ids and versions are there
 * @throws Problem job_not_finished, results_expired
 */
export function resultLines(
	service: Service,
	job: Job,
	{ offset, limit }: Range,
	mayRead: boolean,
): ReadableStream<Uint8Array> {
	const { store } = service;
	const now = new Date(service.now()).toISOString();
	if (!hasEnded(job)) {
		throw new Problem('job_not_finished', `The job is ${job.status}. Ask again when it has ended.`, {
			headers: { 'Retry-After': '1' },
		});
	}
	if (job.results_expire_at! <= now) {
		throw new Problem('results_expired', `The results were kept until ${job.results_expire_at}.`);
	}
	const encoder = new TextEncoder();
	let after = offset - 1;
	let left = limit;
	return new ReadableStream({
		pull(controller) {
			const lines = store.jobResults.page(job.id, after, Math.min(left, linesAtOnce));
			if (lines.length === 0) return controller.close();
			after = lines.at(-1)!.position;
			left -= lines.length;
			const texts = lines.map(({ text }) => (mayRead ? text : withoutRecord(text)));
			controller.enqueue(encoder.encode(texts.map((text) => `${text}\n`).join('')));
		},
	});
}

const withoutRecord = (line: string): string =>
	JSON.stringify(resultWithoutReading(JSON.parse(line) as JsonObject));
