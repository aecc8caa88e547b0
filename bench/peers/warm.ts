import { median } from '../measure.ts';
import type { Laboratory, Network, Worker } from './processes.ts';
import type { Figure, Work } from './results.ts';
import { pageSizeOf, type Subject, subjects, type PeerTask } from './subjects.ts';

const rounds = 3;
/** The longest measurement, in milliseconds; longer work is measured in part. */
const budget = 700;
/** The least number of requests of a part. */
const fewest = 10;

/** The parts of one subject's work that are measured, in records. */
interface Parts {
	/** One request. */
	unit: number;
	measured: number;
}

interface Sample {
	ms: number;
	cpuMs: number;
	requests: number;
	connections: number;
}

/**
 * Measures a piece of work by all subjects in turns; the order changes from round to round.
 *
 * Other nodes send a request per record or per page, so their time grows linearly: of work that would
 * take too long, one request and a part are measured and extrapolated. Nodes that write batches or read
 * in parallel are always measured completely.
 *
 * @throws Error if a run fails or is incomplete, as the measurement is then void
 */
export async function measureWork(
	laboratory: Laboratory,
	workers: Map<Subject, Worker>,
	work: Omit<Work, 'figures'>,
): Promise<Work> {
	const { task, count, network } = work;
	const measure = (subject: Subject, records: number) =>
		sample(laboratory, workers.get(subject)!, { subject, task, records, network });
	const parts = new Map<Subject, Parts>();
	for (const subject of subjects) parts.set(subject, await partsOf(subject, task, count, measure));

	const samples = new Map<Subject, Samples>(
		subjects.map((subject) => [subject, { unit: [], fullRuns: [] }]),
	);
	const order = [...subjects];
	for (let round = 0; round < rounds; round++) {
		for (const subject of order) {
			const { unit, measured } = parts.get(subject)!;
			if (measured < count) samples.get(subject)!.unit.push(await measure(subject, unit));
			samples.get(subject)!.fullRuns.push(await measure(subject, measured));
		}
		order.push(order.shift()!);
	}
	const figures = Object.fromEntries(
		subjects.map((subject) => [
			subject,
			figureOf(samples.get(subject)!, parts.get(subject)!, count),
		]),
	);
	return { ...work, figures: figures as Work['figures'] };
}

interface Samples {
	unit: Sample[];
	fullRuns: Sample[];
}

/** Finds out how much of the work fits the budget; also warms up. */
async function partsOf(
	subject: Subject,
	task: PeerTask,
	count: number,
	measure: (subject: Subject, records: number) => Promise<Sample>,
): Promise<Parts> {
	const unit = Math.min(count, task === 'list' ? pageSizeOf(subject) : 1);
	const isWhole = subject === 'CRM Platform' || subject === 'bare loop';
	let measured = isWhole ? count : Math.min(count, fewest * unit);
	for (;;) {
		const { ms } = await measure(subject, measured);
		if (measured === count || ms >= budget / 2) return { unit, measured };
		// Step by step: an estimate from a few records could be far too high.
		const growth = Math.min(4, Math.max(1.5, budget / ms));
		measured = Math.min(count, Math.floor((growth * measured) / unit) * unit);
	}
}

function figureOf({ unit, fullRuns }: Samples, parts: Parts, count: number): Figure {
	const last = fullRuns.at(-1)!;
	const { measured } = parts;
	const figure = (which: 'ms' | 'cpuMs') => {
		const part = median(fullRuns.map((run) => run[which]));
		if (measured === count) return part;
		const first = median(unit.map((run) => run[which]));
		// On a busy machine, one request may take longer than many.
		if (first >= part) return (part / measured) * count;
		return first + ((part - first) / (measured - parts.unit)) * (count - parts.unit);
	};
	const { requests, connections } = last;
	return { ms: figure('ms'), cpuMs: figure('cpuMs'), measured, requests, connections };
}

async function sample(
	laboratory: Laboratory,
	worker: Worker,
	{ subject, task, records, network }: { subject: Subject; task: PeerTask; records: number; network: Network },
): Promise<Sample> {
	await laboratory.set({ contacts: records });
	const route = laboratory.routeOver(network);
	const measured = await worker.measure({ route, task, count: records });
	if (measured.error !== undefined || measured.records !== records) {
		const outcome = measured.error ?? `${measured.records} records came out.`;
		throw new Error(`${subject}: ${task} of ${records}: ${outcome}`);
	}
	const { hosts, connections } = await laboratory.seen();
	const requests = Object.values(hosts).reduce((sum, host) => sum + host!.requests, 0);
	return { ms: measured.ms, cpuMs: measured.cpuMs, requests, connections };
}
