import fc from 'fast-check';

import { readChanges } from '../../nodes/CrmPlatform/api/lists/changes';
import type { Watermark } from '../../nodes/CrmPlatform/api/lists/watermark';
import type { ApiRequest } from '../../nodes/CrmPlatform/api/http/request';

const second = 1000;
const minute = 60 * second;

interface Change {
	id: string;
	/** What the service stamps it with. */
	at: number;
	/** When readings begin to see it. */
	seen: number;
}

/**
 * A service whose changes are seen late, stamped by clocks that are ahead of its own, and whose
 * front tells a time that is wrong by `skew`. Time passes with its answers, `slow` for each.
 */
class ChangingService {
	now = Date.parse('2026-03-01T10:00:00Z');
	changes: Change[] = [];
	requests = 0;
	skew = 0;
	slow = 200;

	change(id: string, late = 0, ahead = 0): void {
		this.changes.push({ id, at: this.now + ahead, seen: this.now + late });
	}

	readonly send = async ({ query = {} }: ApiRequest) => {
		this.requests += 1;
		const data = this.list().filter((one) => this.isAfter(one, query as Record<string, string>));
		const page = data.slice(0, Number(query.limit));
		const next = data.length > page.length ? page.at(-1) : undefined;
		const body = {
			data: page.map(({ id, at }) => ({ id, updated_at: new Date(at).toISOString() })),
			next_cursor: next ? `${next.at} ${next.id}` : null,
		};
		this.now += this.slow;
		return { status: 200, headers: { date: new Date(this.now + this.skew).toUTCString() }, body };
	};

	/** Each record as it is now, in the order of change. */
	list(): Change[] {
		const seen = this.changes.filter((one) => one.seen <= this.now);
		const latest = new Map(seen.toSorted((a, b) => a.at - b.at).map((one) => [one.id, one]));
		return [...latest.values()].toSorted((a, b) => a.at - b.at || (a.id < b.id ? -1 : 1));
	}

	private isAfter({ at, id }: Change, { cursor, updated_since: since }: Record<string, string>) {
		if (since !== undefined && at < Date.parse(since)) return false;
		const [time, last = ''] = cursor?.split(' ') ?? [];
		return time === undefined || at > Number(time) || (at === Number(time) && id > last);
	}
}

/** A workflow that reads the changes of a service, again and again. */
class Workflow {
	readonly given: string[] = [];
	mark: Watermark | undefined;
	readonly service: ChangingService;

	constructor(service: ChangingService) {
		this.service = service;
	}

	async run(limit?: number): Promise<void> {
		const { service } = this;
		const asked = {
			path: '/v1/contacts',
			list: { cursor: 'cursor', pageSize: { name: 'limit', maximum: 3 } },
			changed: { field: 'updated_at', since: 'updated_since' },
			query: {},
			limit,
		};
		// A machine with a wrong clock of its own.
		const clock = () => service.now - 7 * minute;
		const { records, mark } = await readChanges(service.send, asked, this.mark, (one) => one, clock);
		for (const { id, updated_at } of records) this.given.push(`${String(id)} ${String(updated_at)}`);
		if (mark) this.mark = JSON.parse(JSON.stringify(mark)) as Watermark;
	}
}

const step = fc.oneof(
	fc.record({
		id: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'),
		late: fc.nat(30 * second),
		ahead: fc.nat(25 * second),
	}),
	fc.record({ pause: fc.oneof(fc.nat(second), fc.nat(5 * minute)) }),
	fc.record({ limit: fc.option(fc.integer({ min: 1, max: 5 }), { nil: undefined }) }),
);

test('no change is missed and none comes twice, however late, slow and wrong its clocks are', async () => {
	await fc.assert(
		fc.asyncProperty(
			fc.array(step, { minLength: 20, maxLength: 120, size: 'max' }),
			fc.integer({ min: -20 * minute, max: 20 * minute }),
			fc.constantFrom(10, 5 * second, 40 * second),
			async (steps, skew, slow) => {
				const service = Object.assign(new ChangingService(), { skew, slow });
				const workflow = new Workflow(service);
				for (const one of steps) {
					if ('id' in one) service.change(one.id, one.late, one.ahead);
					else if ('pause' in one) service.now += one.pause;
					else await workflow.run(one.limit);
				}
				service.now += minute;
				await workflow.run();

				const last = service.list().map(({ id, at }) => `${id} ${new Date(at).toISOString()}`);
				expect(workflow.given).toEqual(expect.arrayContaining(last));
				expect(new Set(workflow.given).size).toBe(workflow.given.length);
			},
		),
		{ numRuns: 200, seed: 4, endOnFailure: true },
	);
});

test('what was late when a slow reading began is found by the next, however new what it ended with', async () => {
	const service = Object.assign(new ChangingService(), { slow: 40 * second });
	const workflow = new Workflow(service);
	service.change('late', 30 * second);
	service.now += second;
	for (const id of 'abcdefg') service.change(id);
	service.changes.push({ id: 'new', at: service.now + 70 * second, seen: service.now + 70 * second });
	await workflow.run();
	expect(workflow.given.map(([id]) => id).join('')).toBe('abcdefgn');
	await workflow.run();
	expect(workflow.given.at(-1)).toMatch(/^late/);
	expect(workflow.given).toHaveLength(9);
});

test('after many changes at once, a run without news is soon one request, and nothing is kept', async () => {
	const service = Object.assign(new ChangingService(), { skew: -20 * minute });
	const workflow = new Workflow(service);
	for (let i = 0; i < 30; i++) service.change(`contact-${i}`);
	await workflow.run();
	expect(Object.keys(workflow.mark?.given ?? {})).toHaveLength(30);

	service.now += 2 * minute;
	await workflow.run();
	service.requests = 0;
	await workflow.run();
	expect(service.requests).toBe(1);
	expect(workflow.mark?.given).toEqual({});
	expect(workflow.given).toHaveLength(30);

	service.change('contact-7');
	await workflow.run();
	expect(workflow.given).toHaveLength(31);
});

test('of a service that tells no time, what was given last is read again until there is news', async () => {
	const service = Object.assign(new ChangingService(), { skew: NaN });
	const workflow = new Workflow(service);
	service.change('a');
	await workflow.run();
	const { mark } = workflow;
	service.now += 10 * minute;
	await workflow.run();
	expect(workflow.mark).toEqual(mark);
});
