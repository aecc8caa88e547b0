import type { IRun, ITriggerFunctions } from 'n8n-workflow';

import type { Outcome } from '../../nodes/CrmPlatform/trigger/changes/outcome';
import type { Group } from '../../nodes/CrmPlatform/trigger/changes/position';
import { forgetN8n, Starts } from '../../nodes/CrmPlatform/trigger/changes/starts';

const minute = 60_000;

beforeEach(forgetN8n);

/** What n8n was asked to start, and how it answers. */
interface Emitted {
	key: string;
	items: unknown[];
	answer(response: object): void;
	resolve(run: IRun | undefined): void;
	reject(error: Error): void;
}

/** An n8n in queue mode that answers when the test says so. */
function queueMode(node: object = {}) {
	const emitted: Emitted[] = [];
	const reported: string[] = [];
	let now = 0;
	const n8n = {
		helpers: { createDeferredPromise },
		logger: { error: () => undefined },
		getNode: () => ({ id: 'node', name: 'Trigger', ...node }),
		getWorkflow: () => ({ id: 'w' }),
		saveFailedExecution: (error: Error) => void reported.push(error.message),
		emit: ([items]: [unknown[]], answer: { resolve(response: object): void } | undefined, done: Emitted, key = '::no key') =>
			void emitted.push({
				key: key.split(':')[2]!,
				items,
				answer: (response) => answer!.resolve(response),
				resolve: (run) => done.resolve(run),
				reject: (error) => done.reject(error),
			}),
	} as unknown as ITriggerFunctions;
	const waits: Array<() => void> = [];
	const sleep = async () => await new Promise<void>((resolve) => void waits.push(resolve));
	const starts = new Starts({ now: () => now, sleep, random: () => 0 });
	const outcomes: Record<string, Outcome> = {};
	return {
		emitted,
		reported,
		outcomes,
		starts,
		begin(name: string, isDoneWhenBegun = false) {
			const group = { name, attempt: 1, unbegun: 0, kind: 'events', ids: [name] } as unknown as Group;
			const settle = (outcome: Outcome) => void (outcomes[name] = outcome);
			starts.begin(n8n, { group, items: [{ json: { id: name } }], isDoneWhenBegun, settle });
		},
		async after(ms: number) {
			now += ms;
			for (const wake of waits.splice(0)) wake();
			await settled();
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
	expect(n8n.reported).toEqual([expect.stringContaining('n8n has not told for an hour')]);
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

/** The first start of all is silent, and n8n was asked for its execution. */
async function silentAtFirst(node?: object) {
	const n8n = queueMode(node);
	n8n.begin('silent');
	await n8n.after(minute);
	return n8n;
}

/** None has begun, so one without items is started. */
async function probed() {
	const n8n = await silentAtFirst();
	expect(n8n.keys()).toEqual(['silent', 'silent']);
	n8n.emitted[1]!.reject(new Error('No execution was started'));
	await settled();
	expect(n8n.keys()).toEqual(['silent', 'silent', 'no key']);
	expect(n8n.emitted[2]!.items).toEqual([]);
	return n8n;
}

test('an execution without items tells where executions run, and what it overtakes is started again', async () => {
	const n8n = await probed();
	n8n.emitted[2]!.resolve(run('success'));
	await settled();
	await n8n.after(minute);
	expect(n8n.keys().slice(3)).toEqual(['silent']);
});

test('a worker may answer for it alone', async () => {
	const n8n = await probed();
	n8n.emitted[2]!.answer({});
	await settled();
	await n8n.after(minute);
	await n8n.after(minute);
	expect(n8n.keys().slice(3)).toEqual(['silent']);
});

test('it is started once, and again if it could not be started', async () => {
	const n8n = await probed();
	await n8n.after(minute);
	expect(n8n.keys()).toHaveLength(3);
	n8n.emitted[2]!.reject(new Error('Connection terminated'));
	await settled();
	await n8n.after(minute);
	n8n.emitted[3]!.reject(new Error('No execution was started'));
	await settled();
	expect(n8n.keys().slice(3)).toEqual(['silent', 'no key']);
});

test('for a long execution that has begun, nothing is started', async () => {
	const n8n = await silentAtFirst();
	n8n.emitted[1]!.resolve(undefined);
	await settled();
	await n8n.after(minute);
	await n8n.after(minute);
	expect(n8n.keys()).toHaveLength(2);
});

test('where executions run in the main process, nothing is repeated', async () => {
	const n8n = await probed();
	n8n.emitted[2]!.resolve(run('success', { jobId: undefined }));
	await settled();
	await n8n.after(61 * minute);
	expect(n8n.keys()).toHaveLength(3);
	expect(n8n.reported).toEqual([]);
});

test('a trigger that always gives items is not started without, so the user is told after an hour', async () => {
	const n8n = await silentAtFirst({ alwaysOutputData: true });
	await n8n.after(61 * minute);
	expect(n8n.keys()).toEqual(['silent']);
	expect(n8n.reported).toEqual([expect.stringContaining('n8n has not told for an hour')]);
});

test('what one trigger has seen of n8n, all triggers of the process know', async () => {
	const other = queueMode();
	other.begin('first');
	other.emitted[0]!.resolve(run('success'));
	other.begin('refused');
	other.emitted[1]!.reject(new Error('Connection terminated'));
	await settled();
	const n8n = await silentAtFirst();
	expect(n8n.keys()).toEqual(['silent', 'silent']);
	expect(n8n.emitted[1]!.items).toEqual(n8n.emitted[0]!.items);
});

test('the run of a worker that was taken for dead does not tell that executions run elsewhere', async () => {
	const n8n = queueMode();
	for (const [i, jobId] of ['1', undefined].entries()) {
		n8n.begin(`before ${i}`);
		n8n.emitted[i]!.resolve(run('success', { jobId }));
	}
	await settled();
	n8n.begin('lost');
	await n8n.after(10 * minute);
	expect(n8n.emitted[3]!.items).toEqual(n8n.emitted[2]!.items);
});

test('of a job that n8n gives up as the first of all, n8n is asked, too', async () => {
	const n8n = queueMode();
	n8n.begin('given up');
	n8n.emitted[0]!.resolve(run('error', { jobId: undefined, data: { resultData: { runData: {} } } }));
	await settled();
	n8n.emitted[1]!.reject(new Error('No execution was started'));
	await settled();
	expect(n8n.outcomes['given up']).toBe('not started');
});

test.each([
	['Driver not Connected', 'tells', 'not begun'],
	['the database system is starting up', 'tells', 'not begun'],
	// A worker of n8n before 2.35 asks PostgreSQL for the end of an execution.
	['Driver not Connected', 'does not tell', 'failed'],
	['job stalled more than maxStalledCount', 'tells', 'failed'],
	['Missing lock for job 7 finished', 'tells', 'failed'],
])('of a job that failed (%s), an n8n that %s what it could not start: %s', async (message, tells, outcome) => {
	const n8n = queueMode();
	n8n.begin('given up');
	n8n.emitted[0]!.resolve(run('error', { jobId: undefined, data: { resultData: { runData: {}, error: { message } } } }));
	await settled();
	// Its key is known.
	n8n.emitted[1]!.resolve(undefined);
	await settled();
	if (tells === 'tells') n8n.emitted[2]?.reject(new Error('No execution was started'));
	await n8n.after(minute);
	expect(n8n.outcomes['given up']).toBe(outcome);
});
