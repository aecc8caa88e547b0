import { median } from '../measure.ts';
import type { Laboratory, Network } from './processes.ts';
import type { Fresh, UsedUp } from './results.ts';
import { pageSizeOf, type Subject, subjects } from './subjects.ts';

const rounds = 3;
/** Salesforce fails above some 125,000 items, whatever the plan. */
const maxListed = 100_000;

/**
 * The first run of each node in a process, and the memory of a long list: each in separate processes,
 * since a process keeps memory it will use again.
 */
export async function measureFresh(
	laboratory: Laboratory,
	count: number,
	network: Network,
): Promise<Record<Subject, Fresh>> {
	const samples = new Map(subjects.map((subject) => [subject, [] as Fresh[]]));
	const route = laboratory.routeOver(network);
	await laboratory.set({ contacts: count });
	const order = [...subjects];
	for (let round = 0; round < rounds; round++) {
		for (const subject of order) {
			const worker = await laboratory.hire(subject);
			const first = await worker.measure({ route, task: 'create', count: 1 });
			const list = await worker.measure({ route, task: 'list', count });
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
	return bySubject((subject) => medians(samples.get(subject)!));
}

/**
 * Work that takes five times as many requests as the plan allows at once. Nodes that send one request
 * per record get fewer records, so that the number of requests is the same.
 */
export async function measureUsedUp(
	laboratory: Laboratory,
	plan: { requests: number; windowMs: number },
	network: Network,
): Promise<Record<Subject, UsedUp[]>> {
	const requests = 5 * plan.requests;
	const results = new Map<Subject, UsedUp[]>();
	for (const subject of subjects) {
		const worker = await laboratory.hire(subject);
		const isBatched = subject === 'CRM Platform' || subject === 'bare loop';
		const outcomes: UsedUp[] = [];
		for (const [task, count] of [
			['create', isBatched ? 100 * requests : requests],
			['list', Math.min(maxListed, pageSizeOf(subject) * requests)],
		] as const) {
			const route = laboratory.routeOver(network);
			await laboratory.set({ contacts: count });
			// The first run also reads what only needs reading once.
			await worker.measure({ route, task: 'create', count: 1 });
			await laboratory.set({ contacts: count, plan });
			const { ms, records, error } = await worker.measure({ route, task, count });
			const [stats] = Object.values((await laboratory.seen()).hosts);
			outcomes.push({ task, count, records, ms, ...stats!, ...(error !== undefined && { error }) });
		}
		await worker.stop();
		results.set(subject, outcomes);
	}
	return bySubject((subject) => results.get(subject)!);
}

const bySubject = <T>(value: (subject: Subject) => T) =>
	Object.fromEntries(subjects.map((subject) => [subject, value(subject)])) as Record<Subject, T>;
