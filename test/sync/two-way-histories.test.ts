import { setTimeout as sleep } from 'node:timers/promises';

import fc from 'fast-check';
import type { IDataObject, INode } from 'n8n-workflow';

import { readExample } from '../../demo/examples.ts';
import { randomRuns } from '../support/random-runs.ts';
import { playExample, ExampleTable } from '../support/example-player.ts';
import { useSandbox } from '../support/sandbox.ts';
import { runSync } from '../support/sync-node.ts';

const example = readExample('sync-two-way.json', { type: 'crmPlatformApi', id: '', name: '' });
const sandbox = useSandbox({ contacts: 0, requestsPerMinute: 1_000_000 });

type Event = IDataObject & { sequence: number; request: { idempotency_key: string | null } | null; data: { object: IDataObject } };

const names = ['Ada', 'Grace', 'Mary'];
const edit = (where: 'in the table' | 'in the CRM') =>
	fc.record({ do: fc.constant(where), who: fc.constantFrom(0, 0, 0, 1), name: fc.constantFrom(...names) });
const directions = ['to the CRM', 'to the table'] as const;
/** An execution in one direction takes some steps. If none runs, or `another` is set, n8n starts one first. */
const step = fc.oneof(edit('in the table'), edit('in the CRM'), {
	weight: 3,
	arbitrary: fc.record({
		do: fc.constantFrom(...directions), steps: fc.integer({ min: 1, max: 4 }), another: fc.constantFrom(true, ...Array<false>(5).fill(false)),
	}),
});
type Step = typeof step extends fc.Arbitrary<infer One> ? One : never;

type Execution = AsyncGenerator<void, void>;

let histories = 0;

async function history(steps: readonly Step[]) {
	const domain = `${(histories += 1)}.two-way.example`;
	const people = ['a', 'b'].map((who) => `${who}@${domain}`);
	const table = new ExampleTable();
	const running = { 'to the CRM': [] as Execution[], 'to the table': [] as Execution[] };
	const last = await sandbox.list<Event>('events?sort=-sequence&limit=1');
	const began = last[0]?.sequence ?? 0;
	let read = began;

	const events = async (after: number) => {
		const { body } = await sandbox.call('GET', `/v1/events?sequence[gt]=${after}&sort=sequence&limit=500`);
		return (body.data as Event[]).map((event) => {
			const isOwn = event.request?.idempotency_key?.startsWith('n8n/');
			return { ...event, made_by: isOwn ? 'this_workflow' : 'others' };
		});
	};
	const contacts = async () => await sandbox.list(`contacts?email[contains]=${domain}&limit=500`);
	const sync = async ({ parameters }: INode, items: IDataObject[]) => {
		const { created, updated, deleted, conflict, unchanged } = await runSync({
			credential: sandbox.credential,
			parameters: { authentication: 'apiKey', operation: 'upsert', ...parameters },
			items,
			mode: 'trigger',
			continueOnFail: true,
		});
		return [created, updated, deleted, conflict, unchanged].map((output) =>
			output.map(({ json, pairedItem }) => ({ json, item: (pairedItem as { item: number }).item })),
		);
	};

	const toTheCrm = () => playExample(example, 'Every minute', [{}], table, sync);
	/** Runs executions as the Poll Trigger does: one after the other, and again if one fails. */
	async function* toTheTable(): Execution {
		if (isReading) return;
		isReading = true;
		try {
			const found = await events(read);
			if (found.length === 0) return;
			for (let tries = 1; ; tries += 1) {
				try {
					yield* playExample(example, 'When contacts change', found, table, sync);
					break;
				} catch (error) {
					if (tries === 3) throw error;
				}
			}
			read = found.at(-1)!.sequence;
		} finally {
			isReading = false;
		}
	}
	let isReading = false;

	const goOn = async (direction: (typeof directions)[number], { steps: maxSteps = Infinity, another = false } = {}) => {
		const all = running[direction];
		if (all.length === 0 || another) all.unshift(direction === 'to the CRM' ? toTheCrm() : toTheTable());
		const [execution] = all;
		for (let i = 0; i < maxSteps; i += 1) {
			if (!(await execution!.next()).done) continue;
			all.shift();
			return;
		}
	};
	const finish = async (direction: (typeof directions)[number]) => {
		do await goOn(direction);
		while (running[direction].length > 0);
	};
	const does = {
		'in the table': async ({ who, name }: { who: number; name: string }) => {
			const email = people[who]!;
			const row = table.rows.find((candidate) => candidate.email === email)!;
			if (row.name === name) return;
			table.change(row, { name });
		},
		'in the CRM': async ({ who, name }: { who: number; name: string }) => {
			const email = people[who]!;
			const { id } = (await contacts()).find((contact) => contact.email === email)!;
			await sandbox.call('PATCH', `/v1/contacts/${id}`, { last_name: name });
		},
		'to the CRM': async (more: { steps: number; another: boolean }) => await goOn('to the CRM', more),
		'to the table': async (more: { steps: number; another: boolean }) => await goOn('to the table', more),
	};
	for (const email of people) table.add({ email, name: names[0]!, crm_id: null, crm_version: null, synced: null });
	await finish('to the CRM');
	await finish('to the table');
	for (const nextStep of steps) {
		// Edits in one millisecond would be a conflict: nobody knows which is the later one.
		await sleep(2);
		await does[nextStep.do](nextStep as never);
	}
	const inCrm = async () => (await contacts()).map(({ email, last_name: name, version }) => [email, name, version]).sort();
	const inTable = () => table.rows.map(({ email, name, crm_version: version }) => [email, name, version]).sort();
	for (let i = 0; i < 5; i += 1) for (const direction of directions) await finish(direction);
	expect(inTable()).toEqual(await inCrm());
	const eventCount = (await events(began)).length;
	for (const direction of directions) await finish(direction);
	expect(await events(began)).toHaveLength(eventCount);
}

const by = (where: 'in the table' | 'in the CRM', name: string): Step => ({ do: where, who: 0, name });
const goes = (direction: (typeof directions)[number], steps: number): Step => ({ do: direction, steps, another: false });

test.each([1, 2, 3, 4, 5])('an edit in the CRM while a row is synced is not lost, %i steps after it reached the table', async (steps) => {
	for (const synced of [2, 3, 4]) {
		for (const after of [1, 9]) {
			for (const also of [[], [by('in the table', 'Ada')], [by('in the table', 'Mary')]]) {
				const meanwhile = [by('in the CRM', 'Mary'), goes('to the table', steps), ...also];
				await history([by('in the table', 'Grace'), goes('to the CRM', synced), ...meanwhile, goes('to the CRM', after)]);
			}
		}
	}
}, 120_000);

test('whatever is edited between two steps of either direction, a table and the CRM become equal', async () => {
	await fc.assert(fc.asyncProperty(fc.array(step, { minLength: 3, maxLength: 16, size: 'max' }), history), randomRuns(60));
}, 600_000);
