import { setTimeout as sleep } from 'node:timers/promises';
import { hourMs, until } from '../../support/until.ts';
import { baseNode, listAll, pollingWorkflow, type ExecutionRow, type KillableN8n, type TriggerReport } from './killable-n8n.ts';
import { recordOfEvent } from './trigger-workflow.ts';

/** The workflows: one for each choice of Mark as Done When, and one for the other choice of After a Crash. */
const workflows = {
	started: { doneWhen: 'started' },
	ended: { doneWhen: 'ended' },
	succeeded: { doneWhen: 'succeeded' },
	setAside: { doneWhen: 'succeeded', options: { afterCrash: 'setAside' } },
};
type Name = keyof typeof workflows;
const names = Object.keys(workflows) as Name[];

/** The outcomes of each workflow. */
export type AllOutcomes = Record<Name, Outcomes>;

/** The outcomes of the events of a workflow. */
interface Outcomes {
	/** The statuses of the executions of each event that may succeed, in the order of its attempts. */
	events: string[][];
	/** The same for events whose executions always fail. */
	poisonous: string[][];
	/** The number of failures that the trigger has reported. */
	reported: number;
	/** Events that have neither succeeded nor been reported. */
	untold: string[];
}

/** Every hundredth event is poisonous, from the eighth on. */
const isPoisonous = (index: number): boolean => index % 100 === 7;

/**
 * Makes events happen that start published workflows, while n8n is killed (SIGKILL) again and again.
 * After each kill, the workflows are deactivated and activated.
 *
 * @param random gives 0 ≤ n < 1
 * @param attempts the Maximum Attempts of the workflows
 */
export async function countUnderKills(
	n8n: KillableN8n,
	{ events, kills, attempts, random }: { events: number; kills: number; attempts: number; random: () => number },
): Promise<AllOutcomes> {
	const { client, credentialId } = n8n;
	const ids = new Map<string, string>();
	for (const name of names) {
		const parameters = { events: ['contact.created'], attempts, ...workflows[name] };
		const id = await client.createWorkflow(pollingWorkflow(credentialId, name, parameters, failPoisonous));
		await client.activateWorkflow(id);
		ids.set(name, id);
	}

	const parts = kills + 1;
	let created = 0;
	for (let part = 0; part < parts; part++) {
		const items = Array.from({ length: Math.ceil(events / parts) }, () => {
			const index = created++;
			return { last_name: `Event ${index}`, job_title: isPoisonous(index) ? 'Poison' : 'Buyer' };
		});
		for (let from = 0; from < items.length; from += 100) {
			await n8n.call('POST', '/v1/contacts/batch/create', { items: items.slice(from, from + 100) });
		}
		if (part === kills) break;
		const target = n8n.countRows() + Math.floor(random() * items.length * names.length);
		await until(() => n8n.countRows() >= target, hourMs);
		await sleep(random() * 50);
		await n8n.killAndStart();
		for (const id of ids.values()) {
			await client.deactivateWorkflow(id);
			await client.activateWorkflow(id);
		}
	}

	const poison = await poisonousEvents(n8n);
	const result = (): AllOutcomes => {
		const rows = n8n.rows();
		const reports = n8n.reports();
		const of = (name: Name) => {
			const isOwn = ({ workflowId }: { workflowId: string }) => workflowId === ids.get(name);
			return outcomesOf(rows.filter(isOwn), reports.filter(isOwn), poison);
		};
		return { started: of('started'), ended: of('ended'), succeeded: of('succeeded'), setAside: of('setAside') };
	};
	const isDone = () => {
		const isQuiet = n8n.rows().every(({ status }) => !['new', 'running'].includes(status));
		const { succeeded, setAside, ...others } = result();
		const isComplete = ({ events: found, poisonous }: Outcomes) => found.length + poisonous.length === created;
		return (
			isQuiet &&
			[succeeded, setAside, ...Object.values(others)].every(isComplete) &&
			succeeded.events.every((statuses) => statuses.includes('success')) &&
			succeeded.poisonous.every((statuses) => statuses.length >= attempts) &&
			setAside.untold.length === 0
		);
	};
	await until(isDone, hourMs);
	// Long enough for a superfluous start.
	await sleep(3_000);
	for (const id of ids.values()) await client.deactivateWorkflow(id);
	return result();
}

/** Ids of the events of poisonous contacts. */
async function poisonousEvents({ call }: KillableN8n): Promise<Set<string>> {
	const events = await listAll(call, '/v1/events', 'type=contact.created');
	return new Set(events.filter((event) => recordOfEvent(event)['job_title'] === 'Poison').map(({ id }) => String(id)));
}

/** Keys end with `<first event>:<what names the group>:<attempt>`. */
function outcomesOf(rows: ExecutionRow[], reports: TriggerReport[], poison: Set<string>): Outcomes {
	const statuses = new Map<string, string[]>();
	const starts = rows.map(({ deduplicationKey, status }) => {
		const [attempt, , event] = deduplicationKey?.split(':').reverse() ?? [];
		return { event, attempt: Number(attempt), status };
	});
	for (const { event, status } of starts.sort((a, b) => a.attempt - b.attempt)) {
		if (event !== undefined) statuses.set(event, [...(statuses.get(event) ?? []), status]);
	}
	const select = (isWanted: (event: string) => boolean) =>
		[...statuses].filter(([event]) => isWanted(event)).map(([, all]) => all);
	const reportedEvents = new Set(reports.flatMap(({ text }) => text.match(/evt_\w+/g) ?? []));
	const isUntold = ([event, all]: [string, string[]]) => !all.includes('success') && !reportedEvents.has(event);
	return {
		events: select((event) => !poison.has(event)),
		poisonous: select((event) => poison.has(event)),
		reported: reports.length,
		untold: [...statuses].filter(isUntold).map(([event]) => event),
	};
}

const failPoisonous = [
	baseNode('filter', 2.2, 'Only Poison', {
		conditions: {
			options: { caseSensitive: true, leftValue: '', typeValidation: 'loose', version: 2 },
			conditions: [
				{
					id: 'poison',
					leftValue: '={{ $json.data.object.job_title }}',
					rightValue: 'Poison',
					operator: { type: 'string', operation: 'equals' },
				},
			],
			combinator: 'and',
		},
	}),
	baseNode('stopAndError', 1, 'Fail', { errorMessage: 'Poison' }),
];
