import * as fc from 'fast-check';

import { idempotencyKey, originOf } from '../../nodes/CrmPlatform/api/http/idempotency';
import { type IgnoredOrigins, madeBy, ownOrigin } from '../../nodes/CrmPlatform/log/cause';
import type { CrmEvent } from '../../nodes/CrmPlatform/log/crmEvent';
import { openEventLog, readInRanges } from '../../nodes/CrmPlatform/log/eventLog';
import { failedFilter } from '../../nodes/CrmPlatform/trigger/eventFilter';
import { httpError } from '../http/http-error.ts';
import { randomRuns } from '../support/random-runs.ts';

const pageSize = 5;

/** A log with these sequences, some of whose answers come from a replica that is behind. */
function logOf(
	sequences: number[],
	{
		isBehind = () => false, missing = 0, arriving = [] as number[],
	}: { isBehind?: () => boolean; missing?: number; arriving?: number[] } = {},
) {
	const all = [...sequences];
	const requests: number[] = [];
	return {
		requests,
		pageSize,
		async *after(sequence: number, limit = Infinity) {
			requests.push(sequence);
			const seen = isBehind() ? all.slice(0, Math.max(0, all.length - missing)) : [...all];
			await Promise.resolve();
			for (const newer of seen.filter((each) => each > sequence).slice(0, limit)) yield { sequence: newer } as CrmEvent;
		},
		newest: async () => {
			const newest = all.at(-1);
			all.push(...arriving);
			return await Promise.resolve(newest);
		},
	};
}

const read = async (log: ReturnType<typeof logOf>, from = 0): Promise<number[]> => {
	const found: number[] = [];
	for await (const { sequence } of readInRanges(log, from)) found.push(sequence);
	return found;
};

const sequences = fc.uniqueArray(fc.integer({ min: 1, max: 300 }), { maxLength: 120 }).map((some) => some.sort((a, b) => a - b));

test('a log is read completely and in sequence, however its numbers are spread, including events added meanwhile', async () => {
	await fc.assert(
		fc.asyncProperty(sequences, fc.nat(150), fc.nat(7), async (some, from, more) => {
			const arriving = Array.from({ length: more }, (_, i) => 1_000 + i);
			const log = logOf(some, { arriving });
			const found = await read(log, from);
			const expected = some.filter((sequence) => sequence > from);
			expect(found.slice(0, expected.length)).toEqual(expected);
			if (expected.length > pageSize) expect(found).toEqual([...expected, ...arriving]);
		}),
		randomRuns(300),
	);
});

const lags = fc.array(fc.boolean(), { minLength: 1, maxLength: 20 });

test('responses of a replica that is behind skip nothing: the log is read to its newest event, or the reading fails', async () => {
	await fc.assert(
		fc.asyncProperty(sequences, lags, fc.integer({ min: 1, max: 30 }), async (some, behind, missing) => {
			let answerCount = 0;
			const log = logOf(some, { isBehind: () => behind[answerCount++ % behind.length]!, missing });
			const found: number[] = [];
			const reading = async () => {
				for await (const { sequence } of readInRanges(log, 0)) found.push(sequence);
			};
			const error = await reading().catch((thrown: Error) => thrown.message);
			expect(found).toEqual(some.slice(0, found.length));
			if (error !== undefined) expect(error).toMatch(/ends before its newest event .*, so changes would be missed\. Run/);
			else if (found.length >= pageSize) expect(found).toEqual(some);
		}),
		randomRuns(300),
	);
});

test.each([0, 1_000])('a dense log that begins above %p needs a request per page, and two more, of which few are ahead', async (above) => {
	const log = logOf(Array.from({ length: 50 }, (_, i) => above + i + 1));
	const requestsBefore = new Map<number, number>();
	for await (const { sequence } of readInRanges(log, 0)) requestsBefore.set(sequence - above, log.requests.length);
	expect([requestsBefore.size, requestsBefore.get(pageSize + 1)]).toEqual([50, 8]);
	expect(log.requests).toEqual([0, ...[5, 10, 15, 20, 25, 30, 35, 40, 45, 50].map((sequence) => above + sequence)]);
});

const event = (idempotency_key: string | null, actor: string | number = 'usr_1'): CrmEvent => ({
	id: 'evt_1',
	type: 'contact.created',
	timestamp: '2026-01-01T00:00:00Z',
	sequence: 1,
	actor: { type: 'user', id: actor },
	request: { id: 'req_1', idempotency_key },
	data: { object: {}, previous: null, changed: [] },
});

const passes = (candidate: CrmEvent, keys: IgnoredOrigins['origins'], users: string[] = []) =>
	failedFilter(candidate, { changedFields: [], equal: {}, ignored: { origins: keys, users } }) === undefined;

const origin = originOf('instance-1', 'wf1');

const workflowKey = idempotencyKey({
	instance: 'instance-1',
	workflow: 'wf1',
	execution: '1',
	node: 'node-1',
	runKey: 0,
	keyParts: [0],
});

test('changes of this workflow are ignored; those of others and of longer ids are not', () => {
	const workflow = [ownOrigin('workflow', origin)];
	expect(passes(event(workflowKey), workflow)).toBe(false);
	expect(passes(event(workflowKey.replace('/wf1/', '/wf12/')), workflow)).toBe(true);
	expect(passes(event('order-4711'), workflow)).toBe(true);
	expect(passes(event(null), workflow)).toBe(true);
});

test('changes of any workflow of this n8n are ignored, those of another n8n are not', () => {
	expect(passes(event(workflowKey), [ownOrigin('instance', origin)])).toBe(false);
	expect(passes(event(workflowKey), [ownOrigin('instance', originOf('instance-2', 'wf1'))])).toBe(true);
});

test('changes of chosen users are ignored, whatever the CRM reports about requests', () => {
	const { request: _, ...plain } = event(null, 'usr_2');
	expect(passes(plain, [], ['usr_2'])).toBe(false);
	expect(passes(plain, [], ['usr_3'])).toBe(true);
	expect(passes(event(null, 7), [], ['7'])).toBe(false);
});

test('an event tells whether this workflow caused it, another one of this n8n, or somebody else', () => {
	expect(madeBy(event(workflowKey), origin)).toBe('this_workflow');
	expect(madeBy(event(workflowKey), originOf('instance-1', 'wf2'))).toBe('this_n8n');
	expect(madeBy(event(workflowKey), originOf('instance-2', 'wf1'))).toBe('other');
	expect(madeBy(event('order-4711'), origin)).toBe('other');
	expect(madeBy(event(null), origin)).toBe('other');
	const { request: _, ...plain } = event(null);
	expect(madeBy(plain, origin)).toBeUndefined();
});

test('no more events are read than requested, even if the service refuses their types', async () => {
	const filters = ['sequence[gt]', 'created_at[gte]', 'type'].map((name) => ({ name }));
	const list = { sort: { name: 'sort', values: ['sequence', '-sequence'] }, filters };
	const data = [1, 2, 3, 4].map((sequence) => ({ ...event(null), id: `${sequence}`, sequence }));
	const send = async ({ query }: { query: object }) => {
		if ('type' in query) throw httpError('400');
		return { body: { data, next_cursor: null } };
	};
	const log = await openEventLog({ describe: async () => ({ list }), send, notices: new Set() } as never);
	for (const readings of [1, 2]) {
		const found: number[] = [];
		for await (const { sequence } of log.after(0, ['contact.created'], 3)) found.push(sequence);
		expect([readings, found]).toEqual([readings, [1, 2, 3]]);
	}
});
