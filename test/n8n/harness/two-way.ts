import { setTimeout as sleep } from 'node:timers/promises';
import { readExample } from '../../../demo/examples.ts';
import type { N8nClient, Workflow } from '../../../demo/n8n-client.ts';
import type { EditedContacts, EditedSystem, Person } from './edited-contacts.ts';
import type { EditedTable } from './edited-table.ts';
import { randomOf } from '../../support/random-runs.ts';
import { until } from '../../support/until.ts';

/** How often each person was edited on one side. */
type Edits = Map<string, number>;

/** Few names, so that people soon get an earlier name again, which must still count as an edit. */
const names = Array.from({ length: 3 }, (_, i) => `Name ${i}`);

/** One edit in ten adds a person. */
const editsPerAddition = 10;

/** The longest time between two edits on a side: several runs of the workflow come between them. */
const maxPauseMs = 60;

/** The interval of the workflow. Set it higher for many edits on a busy machine, where runs would pile up. */
const seconds = Number(process.env['SYNC_SECONDS'] ?? 1);

/**
 * The example Keep a table and the CRM in sync, which looks at both sides every second.
 *
 * @param table the name of its table
 */
export function twoWayExample(table: string, credential: { type: string; id: string; name: string }): Workflow {
	const text = JSON.stringify(readExample('sync-two-way.json', credential))
		.replaceAll('"value":"people"', `"value":"${table}"`)
		.replaceAll('"tableName":"people"', `"tableName":"${table}"`)
		.replaceAll('"field":"minutes","minutesInterval":1', `"field":"seconds","secondsInterval":${seconds}`)
		.replaceAll('"interval":5', `"interval":${seconds}`);
	return JSON.parse(text) as Workflow;
}

interface TwoWay {
	n8n: N8nClient;
	/** A published workflow. */
	workflowId: string;
	crm: EditedContacts;
	table: EditedTable;
	domain: string;
	/** The number of edits on each side. */
	edits: number;
	seed: number;
	/** What happens to n8n meanwhile, in this order. The edits are spread over it. */
	meanwhile: Array<() => Promise<void>>;
}

/**
 * Edits people on both sides at random while a workflow keeps them in sync. Expects that both sides
 * become equal, that n8n has written only edits of the table to the CRM, and that n8n writes
 * nothing once there are no more edits.
 */
export async function expectInStep({ n8n, workflowId, crm, table, domain, edits, seed, meanwhile }: TwoWay): Promise<void> {
	const maxMs = 200_000 + edits * 500;
	const people = Array.from({ length: Math.ceil(edits / 5) }, (_, i) => `person-${i}@${domain}`);
	for (const email of people) await crm.add(email, 'New');
	await untilInStep(crm, table, maxMs);

	const editCounts: Edits = new Map();
	const editTable = randomEditor(table, people, 'table', randomOf(seed), editCounts);
	const editCrm = randomEditor(crm, people, 'crm', randomOf(seed + 1), editCounts);
	const each = Math.ceil(edits / meanwhile.length);
	for (const happening of meanwhile) await Promise.all([editTable(each), editCrm(each), happening()]);
	await untilInStep(crm, table, maxMs);
	const writes = await crm.writesOfN8n();
	// Edits of one person that follow each other are merged. Two runs that overlap may both write what one of them read.
	expect([...writes].filter(([email, count]) => count > (editCounts.get(email) ?? 0))).toEqual([]);

	const rows = await table.rows();
	const executions = (await n8n.listExecutions(workflowId)).length;
	await until(async () => (await n8n.listExecutions(workflowId)).length >= executions + 3, maxMs);
	expect(await table.rows()).toEqual(rows);
	expect(await crm.writesOfN8n()).toEqual(writes);
	await n8n.deactivateWorkflow(workflowId);
}

/**
 * Edits people at random, one edit after the other.
 *
 * @param knownEmails addresses of people in the system
 * @param newcomers the beginning of new people's addresses
 * @param edits counts the edits of each person
 * @returns a function that makes a number of edits
 */
function randomEditor(
	system: EditedSystem,
	knownEmails: string[],
	newcomers: string,
	random: () => number,
	edits: Edits,
): (count: number) => Promise<void> {
	const mine = [...knownEmails];
	const pick = <Entry>(all: Entry[]) => all[Math.floor(random() * all.length)]!;
	const add = async (name: string): Promise<string> => {
		const email = `${newcomers}-${mine.length}@${knownEmails[0]!.split('@')[1]}`;
		await system.add(email, name);
		mine.push(email);
		return email;
	};
	const edit = async (): Promise<string | undefined> => {
		const name = pick(names);
		if (random() < 1 / editsPerAddition) return await add(name);
		const email = pick(mine);
		return (await system.rename(email, name)) ? email : undefined;
	};
	return async (count) => {
		for (let done = 0; done < count; ) {
			await sleep(random() * maxPauseMs);
			const email = await edit();
			if (email === undefined) continue;
			edits.set(email, (edits.get(email) ?? 0) + 1);
			done += 1;
		}
	};
}

/**
 * Waits until both have the same people with the same names, and the table has their versions.
 *
 * @throws Error with what differs, if that takes too long
 */
async function untilInStep(crm: EditedSystem, table: EditedSystem, maxMs: number): Promise<void> {
	for (const deadline = Date.now() + maxMs; ; ) {
		const ours = inOrder(await crm.people());
		const theirs = inOrder(await table.people());
		if (JSON.stringify(ours) === JSON.stringify(theirs)) return;
		if (Date.now() > deadline) expect(theirs).toEqual(ours);
		await sleep(200);
	}
}

const inOrder = (people: Person[]) =>
	people
		.map(({ email, name, version }) => [email, name, version])
		.sort(([a], [b]) => (String(a) < String(b) ? -1 : 1));
