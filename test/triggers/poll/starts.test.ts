import { type ITriggerFunctions, ManualExecutionCancelledError } from 'n8n-workflow';

import { SimulatedClock } from '../../../bench/scale/clock.ts';
import { clearProcessMemory } from '../../../nodes/CrmPlatform/base/processMemory';
import { type ExecutionEnd, runExecution, runsOnWorkers } from '../../../nodes/CrmPlatform/trigger/poll/n8nExecutions';
import { createDeferredPromise, type DeferredPromise } from './deferred-promise.ts';
import { minute, runWith, startInQueueMode, untouched } from './queue-mode.ts';

beforeEach(clearProcessMemory);

/** One start is lost, and a later one has succeeded. */
async function overtaken(options: Parameters<typeof startInQueueMode>[1] = {}, workflow = {}) {
	const n8n = startInQueueMode({}, options, workflow);
	await n8n.begin('lost');
	await n8n.begin('next');
	await n8n.succeed(1);
	await n8n.after(minute);
	expect(n8n.keys()).toEqual(['lost', 'next', 'lost']);
	return n8n;
}

test('a start that n8n has lost is repeated with its key, and the failure of the job that it replaces does not count', async () => {
	const n8n = await overtaken();
	await n8n.end(0, runWith('error', { data: untouched() }));
	expect(['next', 'lost'].map(n8n.outcome)).toEqual(['done', 'under way']);
	await n8n.succeed(2);
	expect(n8n.outcome('lost')).toBe('done');
});

test('an execution of which n8n reports no end has failed a minute after the timeout of its workflow', async () => {
	const n8n = await overtaken({}, { executionTimeout: 60 });
	await n8n.recognize(2);
	await n8n.after(2 * minute - 1);
	expect(n8n.outcome('lost')).toBe('under way');
	await n8n.after(1);
	expect(n8n.outcome('lost')).toBe('failed');
});

test('an execution that crashed before it began is distinguished from one that failed', async () => {
	const n8n = startInQueueMode();
	await n8n.begin('skipped');
	await n8n.end(0, runWith('crashed', { data: untouched() }));
	expect(n8n.outcome('skipped')).toBe('ended before its first node');
	await n8n.after(minute);
	expect(n8n.keys()).toEqual(['skipped', 'skipped:2']);
});

test.each([
	['has begun', 'later', 'failed'],
	['is still new', 'later', 'rejected by n8n'],
	['is still new', 'first', 'rejected by n8n'],
])('if n8n gives up a job, the trigger asks whether its execution %s (%s)', async (state, position, outcome) => {
	const n8n = startInQueueMode();
	await n8n.begin('waits').then(async () => await n8n.disconnect(0));
	if (position === 'later') await n8n.begin('before').then(async () => await n8n.succeed(-1));
	await n8n.begin('given up');
	await n8n.giveUp(-1);
	// Asked with items that cannot be written.
	await (state === 'has begun' ? n8n.recognize(-1) : n8n.refuse(-1));
	expect(n8n.outcome('given up')).toBe(outcome);
});

test('the end of an attempt that was replaced does not settle the one that runs', async () => {
	const n8n = await overtaken({ doneWhen: 'started' });
	// The repeat has replaced the first job, which fails.
	await n8n.giveUp(0);
	await n8n.begin('third');
	await n8n.succeed(3);
	await n8n.after(minute);
	expect(n8n.keys()).toEqual(['lost', 'next', 'lost', 'third', 'lost']);
	// As long as others end, it keeps its place.
	await n8n.begin('fourth').then(async () => await n8n.succeed(-1));
	await n8n.recognize(4);
	await n8n.after(15_000);
	expect(n8n.outcome('lost')).toBe('under way');
	await n8n.after(minute);
	expect(n8n.outcome('lost')).toBe('done');
});

/** n8n does not report the very first start, and was asked for its execution. */
async function silentAtFirst(node?: object) {
	const n8n = startInQueueMode(node);
	await n8n.begin('silent');
	await n8n.after(minute);
	return n8n;
}

/** No execution has begun, so the trigger starts one without items. */
async function probed() {
	const n8n = await silentAtFirst();
	expect(n8n.keys()).toEqual(['silent', 'silent']);
	await n8n.refuse(1);
	expect(n8n.keys()).toEqual(['silent', 'silent', 'no key']);
	expect(n8n.emitted[2]!.items).toEqual([]);
	return n8n;
}

test.each(['run', 'response'])('an execution without items shows by its %s where executions run, and what is lost', async (by) => {
	const n8n = await probed();
	if (by === 'run') await n8n.succeed(2);
	else n8n.emitted[2]!.response!.resolve({});
	await n8n.after(minute);
	await n8n.after(minute);
	expect(n8n.keys().slice(3)).toEqual(['silent']);
});

test('the execution without items is started once, and again if it could not be started', async () => {
	const n8n = await probed();
	await n8n.after(minute);
	expect(n8n.keys()).toHaveLength(3);
	await n8n.disconnect(2);
	await n8n.after(minute);
	await n8n.refuse(3);
	expect(n8n.keys().slice(3)).toEqual(['silent', 'no key']);
});

test('a trigger that always returns items starts none without items, so the user is warned after an hour', async () => {
	const n8n = await silentAtFirst({ alwaysOutputData: true });
	await n8n.after(61 * minute);
	expect(n8n.keys()).toEqual(['silent']);
	expect(n8n.reported).toEqual([expect.stringContaining('For an hour, n8n has not reported')]);
});

test('all triggers of a process share what one has found out about n8n', async () => {
	const other = startInQueueMode();
	await other.begin('first');
	await other.end(0, runWith('success', { jobId: undefined }));
	expect((await silentAtFirst()).keys()).toEqual(['silent']);
});

test('the run of a worker that was presumed dead does not show that executions run elsewhere', async () => {
	const n8n = startInQueueMode();
	for (const [i, jobId] of ['1', undefined].entries()) {
		await n8n.begin(`before ${i}`);
		await n8n.end(i, runWith('success', { jobId }));
	}
	await n8n.begin('lost');
	await n8n.after(minute);
	expect(n8n.keys().slice(2)).toEqual(['lost', 'lost']);
});

test.each([
	['Driver not Connected', 'ended before its first node'],
	['the database system is starting up', 'ended before its first node'],
	['job stalled more than maxStalledCount', 'failed'],
	['Missing lock for job 7 finished', 'failed'],
])('if a job failed (%s) whose key is in use: %s', async (message, outcome) => {
	const n8n = startInQueueMode();
	await n8n.begin('given up');
	await n8n.giveUp(0, { message });
	await n8n.recognize(1);
	expect(n8n.outcome('given up')).toBe(outcome);
});

const failedResponse = { statusCode: 500, body: { message: 'Workflow execution failed' } };
const noJob = { jobId: undefined };
const later = { run: runWith('success'), after: 60 };
const succeeded: ExecutionEnd = { outcome: 'succeeded', hasRun: true };
const failed: ExecutionEnd = { outcome: 'failed', hasRun: true };
const failedAtOnce: ExecutionEnd = { outcome: 'failed', hasRun: false };

/** What n8n tells of an emission: its response at once, and its run after so many seconds. */
test.each<[string, { response?: object; run?: unknown; after?: number }, ExecutionEnd, boolean | undefined]>([
	['a worker answers nothing, and no run follows', { response: {} }, succeeded, true],
	['a worker answers that the workflow failed, and no run follows', { response: failedResponse }, failed, true],
	['nothing is answered in the main process, then the run fails', { response: {}, run: runWith('error', noJob) }, failed, false],
	['the workflow answers an error of its own', { response: { statusCode: 500, body: {} }, ...later }, succeeded, true],
	['the workflow answers this text', { response: { ...failedResponse, statusCode: 200 }, ...later }, succeeded, true],
	['the response fails', { response: new Error('away'), ...later }, succeeded, true],
	['the key is known', { run: undefined }, { outcome: 'unknown', hasRun: false }, undefined],
	['the run succeeds without a node', { run: runWith('success', { data: untouched() }) }, succeeded, true],
	['the run waits for long', { run: runWith('waiting') }, succeeded, true],
	['the run has an error', { run: runWith('success', { data: { resultData: { runData: { Trigger: [] }, error: {} } } }) }, failed, true],
	['a job fails before its first node', { run: runWith('error', { data: untouched() }) }, failedAtOnce, true],
	['the run crashes after its first node', { run: runWith('crashed') }, failed, true],
	['the run is canceled before its first node', { run: runWith('canceled', { ...noJob, data: untouched() }) }, failedAtOnce, false],
	['there is no job', { run: runWith('error', { ...noJob, data: untouched() }) }, failedAtOnce, undefined],
	['the run is still new', { run: runWith('new', { data: untouched() }) }, { outcome: 'rejected by n8n', hasRun: false }, true],
	['the execution is canceled', { run: new ManualExecutionCancelledError('1') }, failed, undefined],
	['the execution cannot be started', { run: new Error('away') }, { outcome: 'rejected by n8n', hasRun: false }, undefined],
])('of an execution it is known how it ended and where it ran if %s', async (_, tells, expected, onWorkers) => {
	const clock = new SimulatedClock();
	const tell = (promise: DeferredPromise, value: unknown): void =>
		value instanceof Error ? promise.reject(value) : promise.resolve(value);
	const emit = (_items: unknown, response: DeferredPromise, run: DeferredPromise) => {
		if ('response' in tells) tell(response, tells.response);
		if ('run' in tells) void clock.sleep((tells.after ?? 1) * 1_000).then(() => tell(run, tells.run));
	};
	const n8n = { helpers: { createDeferredPromise }, emit } as unknown as ITriggerFunctions;
	const ended = runExecution({ n8n, clock }, [{}]);
	await clock.advance(2 * minute);
	expect([await ended, runsOnWorkers()]).toEqual([expected, onWorkers]);
});
