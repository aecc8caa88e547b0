import type { IRun, ITriggerFunctions } from 'n8n-workflow';

import type { Outcome } from '../../nodes/CrmPlatform/trigger/changes/outcome';
import type { Group } from '../../nodes/CrmPlatform/trigger/changes/position';
import { Starts } from '../../nodes/CrmPlatform/trigger/changes/starts';

const minute = 60_000;

/** What n8n was asked to start, and how it answers. */
interface Emitted {
	key: string;
	resolve(run: IRun | undefined): void;
	reject(error: Error): void;
}

/** An n8n in queue mode that answers when the test says so. */
function queueMode() {
	const emitted: Emitted[] = [];
	const reported: string[] = [];
	let now = 0;
	const n8n = {
		helpers: { createDeferredPromise },
		logger: { error: () => undefined },
		getNode: () => ({ id: 'node', name: 'Trigger' }),
		getWorkflow: () => ({ id: 'w' }),
		saveFailedExecution: (error: Error) => void reported.push(error.message),
		emit: (_data: unknown, _answer: unknown, done: Emitted, key: string) =>
			void emitted.push({ key: key.split(':')[2]!, resolve: (run) => done.resolve(run), reject: (error) => done.reject(error) }),
	} as unknown as ITriggerFunctions;
	const starts = new Starts({ now: () => now, sleep: async () => await new Promise(() => undefined), random: () => 0 });
	const outcomes: Record<string, Outcome> = {};
	return {
		emitted,
		reported,
		outcomes,
		starts,
		begin(name: string, isDoneWhenBegun = false) {
			const group = { name, attempt: 1, unbegun: 0, kind: 'events', ids: [name] } as unknown as Group;
			const settle = (outcome: Outcome) => void (outcomes[name] = outcome);
			starts.begin(n8n, { group, items: [], isDoneWhenBegun, settle });
		},
		async after(ms: number) {
			now += ms;
			starts.check(n8n);
			await settled();
		},
		keys: () => emitted.map(({ key }) => key),
	};
}

/** As n8n's helper of this name. */
function createDeferredPromise() {
	const settle = {} as { resolve(value: unknown): void; reject(error: Error): void };
	const promise = new Promise((resolve, reject) => Object.assign(settle, { resolve, reject }));
	return { promise, ...settle };
}

const settled = async () => await new Promise((resolve) => setImmediate(resolve));
const run = (status: string, more: object = {}) => ({ status, jobId: '1', data: { resultData: { runData: { Trigger: [] } } }, ...more }) as unknown as IRun;

/** One start is lost, and a later one has come out. */
async function overtaken(isDoneWhenBegun = false) {
	const n8n = queueMode();
	n8n.begin('lost', isDoneWhenBegun);
	n8n.begin('next');
	n8n.emitted[1]!.resolve(run('success'));
	await settled();
	await n8n.after(minute);
	expect(n8n.keys()).toEqual(['lost', 'next', 'lost']);
	return n8n;
}

test('a start that n8n has lost is repeated with its key, and comes out', async () => {
	const n8n = await overtaken();
	n8n.emitted[2]!.resolve(run('success'));
	await settled();
	expect(n8n.outcomes).toEqual({ next: 'succeeded', lost: 'succeeded' });
	expect(n8n.starts.size).toBe(0);
});

test('the failure of a job that was replaced does not count', async () => {
	const n8n = await overtaken();
	n8n.emitted[0]!.resolve(run('error', { data: { resultData: { runData: {} } } }));
	await settled();
	expect(n8n.outcomes['lost']).toBeUndefined();
	n8n.emitted[2]!.resolve(run('success'));
	await settled();
	expect(n8n.outcomes['lost']).toBe('succeeded');
});

test('one that has begun is waited for, and its end counts whenever it comes', async () => {
	for (const endsFirst of [true, false]) {
		const n8n = await overtaken();
		if (endsFirst) n8n.emitted[0]!.resolve(run('error'));
		await settled();
		n8n.emitted[2]!.resolve(undefined);
		await settled();
		if (!endsFirst) {
			expect(n8n.outcomes['lost']).toBeUndefined();
			n8n.emitted[0]!.resolve(run('error'));
			await settled();
		}
		expect(n8n.outcomes['lost']).toBe('failed');
		await n8n.after(10 * minute);
		expect(n8n.keys()).toHaveLength(3);
	}
});

test('where it counts that it has begun, it is done', async () => {
	const n8n = await overtaken(true);
	n8n.emitted[2]!.resolve(undefined);
	await settled();
	expect(n8n.outcomes['lost']).toBe('unknown');
});

test('while the database is away, a repetition changes nothing, and comes again', async () => {
	const n8n = await overtaken();
	n8n.emitted[2]!.reject(new Error('Connection terminated'));
	await settled();
	expect(n8n.starts.size).toBe(1);
	await n8n.after(minute);
	expect(n8n.keys()).toEqual(['lost', 'next', 'lost', 'lost']);
});

test('what was started while the database was away is repeated afterwards', async () => {
	const n8n = queueMode();
	n8n.begin('before');
	n8n.emitted[0]!.resolve(run('success'));
	await settled();
	n8n.begin('open');
	n8n.begin('refused');
	n8n.emitted[2]!.reject(new Error('Connection terminated'));
	await settled();
	expect(n8n.outcomes['refused']).toBe('not started');
	await n8n.after(minute);
	expect(n8n.keys()).toEqual(['before', 'open', 'refused', 'open']);
});

test('the user is told once of an execution that n8n is silent about for an hour', async () => {
	const n8n = await overtaken();
	n8n.emitted[2]!.resolve(undefined);
	await settled();
	await n8n.after(61 * minute);
	await n8n.after(61 * minute);
	expect(n8n.reported).toEqual([expect.stringContaining('n8n has not reported for an hour')]);
});

test('an execution that crashed before it began is told apart from one that failed', async () => {
	const n8n = queueMode();
	n8n.begin('skipped');
	n8n.emitted[0]!.resolve(run('crashed', { data: { resultData: { runData: {} } } }));
	await settled();
	expect(n8n.outcomes).toEqual({ skipped: 'not begun' });
});

test.each([
	['has begun', 'failed'],
	['is still new', 'not started'],
])('of a job that n8n gives up, n8n is asked whether its execution %s', async (state, outcome) => {
	const n8n = queueMode();
	n8n.begin('before');
	n8n.emitted[0]!.resolve(run('success'));
	await settled();
	n8n.begin('given up');
	n8n.emitted[1]!.resolve(run('error', { jobId: undefined, data: { resultData: { runData: {} } } }));
	await settled();
	// Asked with items that cannot be written.
	if (state === 'has begun') n8n.emitted[2]!.resolve(undefined);
	else n8n.emitted[2]!.reject(new Error('No execution was started'));
	await settled();
	expect(n8n.outcomes['given up']).toBe(outcome);
});

test('the end of a turn that was replaced does not settle the one that runs', async () => {
	const n8n = await overtaken(true);
	// The repeat has replaced the first job, which fails.
	n8n.emitted[0]!.resolve(run('error', { jobId: undefined, data: { resultData: { runData: {} } } }));
	await settled();
	n8n.begin('third');
	n8n.emitted[3]!.resolve(run('success'));
	await settled();
	await n8n.after(minute);
	expect(n8n.keys()).toEqual(['lost', 'next', 'lost', 'third', 'lost']);
	n8n.emitted[4]!.resolve(undefined);
	await settled();
	expect(n8n.outcomes['lost']).toBe('unknown');
});

test('after a repeat that n8n refused, only the turn before it counts', async () => {
	const n8n = await overtaken();
	n8n.begin('third');
	n8n.emitted[3]!.resolve(run('success'));
	await settled();
	await n8n.after(minute);
	n8n.emitted[4]!.resolve(undefined);
	await settled();
	n8n.emitted[0]!.resolve(run('error', { jobId: undefined, data: { resultData: { runData: {} } } }));
	await settled();
	expect(n8n.outcomes['lost']).toBeUndefined();
	n8n.emitted[2]!.resolve(run('success'));
	await settled();
	expect(n8n.outcomes['lost']).toBe('succeeded');
});
