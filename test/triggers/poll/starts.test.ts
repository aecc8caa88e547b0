import { forgetN8n } from '../../../nodes/CrmPlatform/trigger/poll/starts';
import { minute, runWith, startInQueueMode, untouched } from '../../http/queue-mode.ts';

beforeEach(forgetN8n);

/** One start is lost, and a later one has succeeded. */
async function overtaken(isDoneWhenBegun = false) {
	const n8n = startInQueueMode();
	n8n.begin('lost', isDoneWhenBegun);
	n8n.begin('next');
	await n8n.succeed(1);
	await n8n.after(minute);
	expect(n8n.keys()).toEqual(['lost', 'next', 'lost']);
	return n8n;
}

test('a start that n8n has lost is repeated with its key, and succeeds', async () => {
	const n8n = await overtaken();
	await n8n.succeed(2);
	expect(n8n.outcomes).toEqual({ next: 'succeeded', lost: 'succeeded' });
	expect(n8n.starts.size).toBe(0);
});

test('the failure of a job that was replaced does not count', async () => {
	const n8n = await overtaken();
	await n8n.end(0, runWith('error', { data: untouched() }));
	expect(n8n.outcomes['lost']).toBeUndefined();
	await n8n.succeed(2);
	expect(n8n.outcomes['lost']).toBe('succeeded');
});

test('an execution that has begun is waited for, and its end counts whenever it is reported', async () => {
	for (const endsFirst of [true, false]) {
		const n8n = await overtaken();
		if (endsFirst) await n8n.end(0, runWith('error'));
		await n8n.recognize(2);
		if (!endsFirst) {
			expect(n8n.outcomes['lost']).toBeUndefined();
			await n8n.end(0, runWith('error'));
		}
		expect(n8n.outcomes['lost']).toBe('failed');
		await n8n.after(10 * minute);
		expect(n8n.keys()).toHaveLength(3);
	}
});

test('if an event is done when its execution begins, it is done', async () => {
	const n8n = await overtaken(true);
	await n8n.recognize(2);
	expect(n8n.outcomes['lost']).toBe('unknown');
});

test('if an event is done when its execution begins, it keeps its place as long as others succeed', async () => {
	const n8n = startInQueueMode();
	n8n.begin('long', true);
	for (let i = 0; i < 6; i++) {
		n8n.begin(`other ${i}`, true);
		await n8n.succeed(-1);
		await n8n.after(15_000);
		// n8n knows the key.
		if (i === 1) await n8n.recognize(-1);
	}
	expect(n8n.keys().filter((key) => key === 'long')).toHaveLength(2);
	expect(n8n.outcomes['long']).toBeUndefined();
	await n8n.after(minute);
	expect(n8n.outcomes['long']).toBe('unknown');
});

test('while the database is away, a repetition changes nothing, and is made again', async () => {
	const n8n = await overtaken();
	await n8n.disconnect(2);
	expect(n8n.starts.size).toBe(1);
	await n8n.after(minute);
	expect(n8n.keys()).toEqual(['lost', 'next', 'lost', 'lost']);
});

test('an execution that crashed before it began is distinguished from one that failed', async () => {
	const n8n = startInQueueMode();
	n8n.begin('skipped');
	await n8n.end(0, runWith('crashed', { data: untouched() }));
	expect(n8n.outcomes).toEqual({ skipped: 'ended before its first node' });
});

test.each([
	['has begun', 'failed'],
	['is still new', 'rejected by n8n'],
])('if n8n gives up a job, the trigger asks whether its execution %s', async (state, outcome) => {
	const n8n = startInQueueMode();
	n8n.begin('before');
	await n8n.succeed(0);
	n8n.begin('given up');
	await n8n.giveUp(1);
	// Asked with items that cannot be written.
	await (state === 'has begun' ? n8n.recognize(2) : n8n.refuse(2));
	expect(n8n.outcomes['given up']).toBe(outcome);
});

test('the end of an attempt that was replaced does not settle the one that runs', async () => {
	const n8n = await overtaken(true);
	// The repeat has replaced the first job, which fails.
	await n8n.giveUp(0);
	n8n.begin('third');
	await n8n.succeed(3);
	await n8n.after(minute);
	expect(n8n.keys()).toEqual(['lost', 'next', 'lost', 'third', 'lost']);
	await n8n.recognize(4);
	expect(n8n.outcomes['lost']).toBe('unknown');
});

test('after a repetition that n8n refused, only the attempt before it counts', async () => {
	const n8n = await overtaken();
	n8n.begin('third');
	await n8n.succeed(3);
	await n8n.after(minute);
	await n8n.recognize(4);
	await n8n.giveUp(0);
	expect(n8n.outcomes['lost']).toBeUndefined();
	await n8n.succeed(2);
	expect(n8n.outcomes['lost']).toBe('succeeded');
});
