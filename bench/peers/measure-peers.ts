import { median } from '../measure.ts';
import type { Laboratory, Worker } from './processes.ts';
import { pageSizeOf, type PeerTask, type Subject, subjects } from './subjects.ts';

/** The cost of one piece of work by one subject: medians. */
interface Figure {
	/** Milliseconds for the whole work; extrapolated if `measured` is less. */
	ms: number;
	/** Time of all processors for the whole work, extrapolated in the same way. */
	cpuMs: number;
	/** The number of records that were measured. */
	measured: number;
}

/** One piece of work by all subjects, in processes that have worked before. */
export interface Work {
	task: PeerTask;
	/** Records. */
	count: number;
	/** Round-trip milliseconds to the server. */
	distance: number;
	figures: Record<Subject, Figure>;
}

/** A process that runs the node for the first time, and then reads a long list; medians. */
export interface Fresh {
	/** The first run: the node is loaded, and creates one record. */
	firstMs: number;
	firstCpuMs: number;
	/** The list. */
	listMs: number;
	listCpuMs: number;
	/** The process's peak growth above the engine before its first run, in MB. */
	peakMb: number;
}

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

type Sample = Pick<Figure, 'ms' | 'cpuMs'>;

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
	rounds: number,
): Promise<Work> {
	const { task, count, distance } = work;
	const measure = (subject: Subject, records: number) =>
		sample(laboratory, workers.get(subject)!, { subject, task, records, distance });
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
	const figures = Object.fromEntries(subjects.map((subject) => [subject, figureOf(samples.get(subject)!, parts.get(subject)!, count)]));
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
	const { measured } = parts;
	const figure = (which: 'ms' | 'cpuMs') => {
		const part = median(fullRuns.map((run) => run[which]));
		if (measured === count) return part;
		const first = median(unit.map((run) => run[which]));
		// On a busy machine, one request may take longer than many.
		if (first >= part) return (part / measured) * count;
		return first + ((part - first) / (measured - parts.unit)) * (count - parts.unit);
	};
	return { ms: figure('ms'), cpuMs: figure('cpuMs'), measured };
}

async function sample(
	laboratory: Laboratory,
	worker: Worker,
	{ subject, task, records, distance }: { subject: Subject; task: PeerTask; records: number; distance: number },
): Promise<Sample> {
	await laboratory.set({ contacts: records });
	const { ms, cpuMs, error, records: found } = await worker.measure({ port: laboratory.portAt(distance), task, count: records });
	if (error === undefined && found === records) return { ms, cpuMs };
	throw new Error(`${subject}: ${task} of ${records}: ${error ?? `${found} records came out.`}`);
}

/**
 * The first run of each node in a process, and the memory of a long list: each in separate processes,
 * since a process keeps memory it will use again.
 *
 * @param count records of the list
 */
export async function measureFresh(laboratory: Laboratory, count: number, rounds: number): Promise<Record<Subject, Fresh>> {
	const samples = new Map(subjects.map((subject) => [subject, [] as Fresh[]]));
	const port = laboratory.portAt(0);
	await laboratory.set({ contacts: count });
	const order = [...subjects];
	for (let round = 0; round < rounds; round++) {
		for (const subject of order) {
			const worker = await laboratory.hire(subject);
			const first = await worker.measure({ port, task: 'create', count: 1 });
			const list = await worker.measure({ port, task: 'list', count });
			await worker.stop();
			if (first.records !== 1 || list.records !== count) {
				throw new Error(`${subject}: ${first.error ?? list.error ?? 'records are missing'}`);
			}
			samples.get(subject)!.push({
				...{ firstMs: first.ms, firstCpuMs: first.cpuMs },
				...{ listMs: list.ms, listCpuMs: list.cpuMs, peakMb: list.peakMb },
			});
		}
		order.push(order.shift()!);
	}
	const medians = (all: Fresh[]): Fresh => {
		const medianOf = (which: keyof Fresh) => median(all.map((sample) => sample[which]));
		return {
			...{ firstMs: medianOf('firstMs'), firstCpuMs: medianOf('firstCpuMs') },
			...{ listMs: medianOf('listMs'), listCpuMs: medianOf('listCpuMs'), peakMb: medianOf('peakMb') },
		};
	};
	return Object.fromEntries(subjects.map((subject) => [subject, medians(samples.get(subject)!)])) as Record<Subject, Fresh>;
}
