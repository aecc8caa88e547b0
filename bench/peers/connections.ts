import { median } from '../measure.ts';
import { type KeepAliveOption, keepAliveOptions } from './keep-alive-options.ts';
import type { Laboratory, Network } from './processes.ts';
import { pageSizeOf, type Subject } from './subjects.ts';

/** Sequential requests, with one option. */
export interface ConnectionFigure {
	option: KeepAliveOption | 'httpRequest, with n8n changed';
	/** Milliseconds per request: near, and far away. */
	nearMs: number;
	farMs: number;
	/** Near, in all rounds. */
	requests: number;
	connections: number;
	/** Connections that were still open afterwards. */
	open: number;
}

/** Milliseconds of a distant list, with n8n as it is and with n8n changed. */
export interface Gain {
	subject: Subject;
	count: number;
	asItIs: number;
	changed: number;
}

const rounds = 3;
const requests = { near: 100, far: 5 };

/** How many connections n8n opens for a node's requests, and what they cost. */
export async function measureConnections(
	laboratory: Laboratory,
	near: Network,
	far: Network,
): Promise<ConnectionFigure[]> {
	const nearFigures = await callsOver(laboratory, near, requests.near);
	const farFigures = await callsOver(laboratory, far, requests.far);
	return nearFigures.map(({ option, ms, connections, open }, i) => ({
		...{ option, nearMs: ms, farMs: farFigures[i]!.ms },
		...{ requests: (rounds + 1) * requests.near, connections, open },
	}));
}

/** Each network has its own callers, since kept-alive connections stay with their server. */
async function callsOver(laboratory: Laboratory, network: Network, count: number) {
	const asItIs = await laboratory.hireCaller(false);
	const changed = await laboratory.hireCaller(true);
	const route = laboratory.routeOver(network);
	const figures = [];
	for (const [option, caller, name] of [
		...keepAliveOptions.map((option) => [option, asItIs, option] as const),
		['httpRequest', changed, 'httpRequest, with n8n changed'] as const,
	]) {
		const samples: number[] = [];
		// The first round warms up; the connections of the changed n8n are opened in it, too.
		await laboratory.set({ contacts: 1 });
		const { open: before } = await laboratory.seen();
		for (let round = 0; round <= rounds; round++) {
			const { ms, error } = await caller.measure({ route, option, count });
			if (error !== undefined) throw new Error(`${name}: ${error}`);
			if (round > 0) samples.push(ms);
		}
		const { connections, open } = await laboratory.seen();
		figures.push({ option: name, ms: median(samples), connections, open: Math.max(0, open - before) });
	}
	await asItIs.stop();
	await changed.stop();
	return figures;
}

/** What nodes would gain if n8n kept connections alive, for lists of twenty pages. */
export async function measureGains(laboratory: Laboratory, far: Network): Promise<Gain[]> {
	const gains: Gain[] = [];
	const route = laboratory.routeOver(far);
	for (const subject of ['CRM Platform', 'HTTP Request', 'HubSpot'] as const) {
		const count = 20 * pageSizeOf(subject);
		await laboratory.set({ contacts: count });
		const samples = new Map([false, true].map((keeps) => [keeps, [] as number[]]));
		const workers = new Map([
			[false, await laboratory.hire(subject, false)],
			[true, await laboratory.hire(subject, true)],
		]);
		for (let round = 0; round <= rounds; round++) {
			for (const [keeps, worker] of workers) {
				const { ms, records, error } = await worker.measure({ route, task: 'list', count });
				if (records !== count) throw new Error(`${subject}: ${error ?? 'records are missing'}`);
				if (round > 0) samples.get(keeps)!.push(ms);
			}
		}
		for (const worker of workers.values()) await worker.stop();
		const [asItIs, changed] = [...samples.values()].map(median) as [number, number];
		gains.push({ subject, count, asItIs, changed });
	}
	return gains;
}
