import { idMaker } from '../core/foundation/ids.ts';
import type { JsonObject } from '../core/foundation/json.ts';
import { changeRecord, createRecord } from '../domain/records/write.ts';
import { contacts } from '../core/schemas/contacts.ts';
import { deals } from '../core/schemas/deals.ts';
import { pipelines, type Stage } from '../core/schemas/pipelines.ts';
import type { Resource, StoredRecord } from '../core/schemas/resource.ts';
import { tasks } from '../core/schemas/tasks.ts';
import { tickets } from '../core/schemas/tickets.ts';
import type { Store } from '../core/store/store.ts';
import type { Random } from './random.ts';

const hourMs = 60 * 60 * 1000;

/** How long the team works, until the end. */
export const recentWorkMs = 3 * 24 * hourMs;

const hoursBetweenChanges = 2;

const ticketSubjects = ['Asked for a call back', 'Interested in the service contract', 'New contact person for orders'];

/**
 * Simulates the team's work in the days before an instant, so that the event log begins with deals that were
 * won, contacts that were edited and tickets that arrived. Nothing happens in an account without deals.
 *
 * @param team the users who work
 * @param end Unix epoch milliseconds
 */
export function workRecently(store: Store, random: Random, team: StoredRecord[], end: number): void {
	const newId = idMaker(random.next);
	const records = (resource: Resource) => store.table(resource.name)!.findAll([], 500);
	const stages = records(pipelines).flatMap((pipeline) =>
		(pipeline['stages'] as Stage[]).map((stage) => ({ ...stage, pipelineId: pipeline.id })),
	);
	const openDeals = records(deals).filter(({ status }) => status === 'open');
	const allContacts = records(contacts);
	const unchangedContacts = [...allContacts];
	const openTasks = records(tasks).filter(({ status }) => status !== 'completed');
	if (openDeals.length === 0 || allContacts.length === 0) return;

	/** Takes one of the records that has not been changed yet. */
	const take = (from: StoredRecord[]) => from.splice(random.below(from.length), 1)[0];
	const moveTo = (kind: Stage['kind'], deal: StoredRecord) => {
		const choice = stages.filter((stage) => stage.pipelineId === deal['pipeline_id'] && stage.kind === kind);
		return { stage_id: random.pick(choice).id };
	};
	const changes: Array<() => [Resource, StoredRecord | undefined, (record: StoredRecord) => JsonObject]> = [
		() => [deals, take(openDeals), (deal) => moveTo('open', deal)],
		() => [contacts, take(unchangedContacts), () => ({ lifecycle_stage: random.pick(['lead', 'customer', 'opportunity']) })],
		() => [deals, take(openDeals), (deal) => moveTo('won', deal)],
		() => [tasks, take(openTasks), () => ({ status: 'completed' })],
	];
	for (let at = end - recentWorkMs, i = 0; at < end; at += hoursBetweenChanges * hourMs, i++) {
		const actor = { type: 'user', id: random.pick(team).id };
		const context = { store, actor, request: null, now: at, newId };
		const [resource, record, change] = changes[i % changes.length]!();
		if (record) changeRecord({ ...context, resource }, record, change(record));
		if (i % 6 === 5) {
			const { id } = random.pick(allContacts);
			createRecord({ ...context, resource: tickets }, { subject: random.pick(ticketSubjects), contact_id: id, channel: 'email' });
		}
	}
}
