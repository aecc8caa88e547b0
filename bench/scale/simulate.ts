import { SimulatedClock } from './clock.ts';
import { SimulatedService, type SimulatedResponse, type SimulatedPlan } from './service.ts';

/** Who sends a request. */
interface Caller {
	process: number;
	workflow: number;
	isAwaited: boolean;
	clock: SimulatedClock;
	transport: () => Promise<SimulatedResponse>;
}

/** Creates the sender of one execution's requests, which resolves to whether a request succeeded. */
export type ClientMaker = (caller: Caller) => () => Promise<boolean>;

export interface Scenario {
	plan: SimulatedPlan;
	executions: number;
	processes: number;
	workflows?: number;
	windows?: number;
}

/** The promises of docs/reference/rate-limits.md, which test/http/scale.test.ts checks, too. */
export const promised: Scenario = {
	plan: { name: '1,000 a minute', requests: 1_000, windowMs: 60_000, counts: 'fixed window' },
	executions: 1_000,
	processes: 4,
};

export interface Figures {
	/** Refusals per request that passed. */
	refusals: number;
	/** The share of what the plan allows. */
	use: number;
	/** Requests that failed, per request that ended. */
	failed: number;
	/** Jain's index between workflows: 1 where each got the same. */
	fairness: number;
	/** Milliseconds. */
	awaited: { median: number; longest: number };
	bulk: { median: number; longest: number };
}

/**
 * Executions that always have another request to send, half of them in one workflow; and every few seconds a
 * request that a user waits for.
 */
export async function simulate(scenario: Scenario, makeClient: ClientMaker): Promise<Figures> {
	const { plan, executions, processes, workflows = 10, windows = 10 } = scenario;
	const clock = new SimulatedClock();
	const service = new SimulatedService(clock, plan);
	const end = clock.now() + windows * plan.windowMs;
	const { transport } = service;
	const passed = Array<number>(workflows).fill(0);
	const waits = { awaited: [] as number[], bulk: [] as number[] };
	let failed = 0;

	const execution = async (number: number) => {
		const workflow = number % 2 === 0 ? 0 : 1 + ((number >> 1) % (workflows - 1));
		const send = makeClient({ process: Math.floor(processes * clock.random()), workflow, isAwaited: false, clock, transport });
		await clock.sleep(1000 * clock.random());
		while (clock.now() < end) {
			const startedAt = clock.now();
			if (await send()) passed[workflow]! += 1;
			else {
				failed += 1;
				// The next execution.
				await clock.sleep(1_000);
			}
			waits.bulk.push(clock.now() - startedAt);
		}
	};
	const people = async () => {
		for (let number = 0; clock.now() < end; number += 1) {
			await clock.sleep(plan.windowMs / 12);
			const send = makeClient({ process: number % processes, workflow: -1, isAwaited: true, clock, transport });
			const startedAt = clock.now();
			void send().then((isDone) => {
				if (!isDone) failed += 1;
				waits.awaited.push(clock.now() - startedAt);
			});
		}
	};
	for (let number = 0; number < executions; number += 1) void execution(number);
	void people();
	await clock.runUntil(end);

	const { accepted, refused } = service;
	const sum = passed.reduce((total, count) => total + count, 0);
	const squares = passed.reduce((total, count) => total + count * count, 0);
	return {
		refusals: refused / Math.max(1, accepted),
		// A token bucket begins full.
		use: accepted / (plan.requests * (windows + (plan.counts === 'token bucket' ? 1 : 0))),
		failed: failed / Math.max(1, sum + failed),
		fairness: sum ** 2 / (workflows * Math.max(1, squares)),
		awaited: spread(waits.awaited),
		bulk: spread(waits.bulk),
	};
}

function spread(values: number[]): Figures['bulk'] {
	const sorted = values.sort((a, b) => a - b);
	return { median: sorted[Math.floor(sorted.length / 2)] ?? 0, longest: sorted.at(-1) ?? 0 };
}
