import { activities } from '../core/schemas/activities.ts';
import { companies } from '../core/schemas/companies.ts';
import { contacts } from '../core/schemas/contacts.ts';
import { customFields } from '../core/schemas/custom-fields.ts';
import { customObjects, recordsOf } from '../core/schemas/custom-objects.ts';
import { deals } from '../core/schemas/deals.ts';
import { messages } from '../core/schemas/messages.ts';
import { notes } from '../core/schemas/notes.ts';
import { pipelines } from '../core/schemas/pipelines.ts';
import type { Resource, StoredRecord } from '../core/schemas/resource.ts';
import { tags } from '../core/schemas/tags.ts';
import { tasks } from '../core/schemas/tasks.ts';
import { tickets } from '../core/schemas/tickets.ts';
import { users } from '../core/schemas/users.ts';
import type { Store } from '../core/store/store.ts';
import { companySeeds, contactSeeds } from './customer-seeds.ts';
import { customFieldSeed, customFieldSeeds } from './custom-field-seeds.ts';
import { customObjectSeed, machineFieldSeed, machineFieldSeeds, machineSeeds } from './custom-object-seeds.ts';
import { dealSeeds, pipelineCount, pipelineSeeds } from './sales-seeds.ts';
import { history, type Times } from './history.ts';
import { ownersAndTags, tagCount, tagSeed, userCount, userSeed } from './team-seeds.ts';
import { demoMembers } from './demo-members.ts';
import { messageSeeds, ticketSeeds } from './support-seeds.ts';
import { type Random, randomFrom } from './random.ts';
import { recentWorkMs, workRecently } from './recent.ts';
import { workSeeds } from './work-seeds.ts';

interface SeedOptions {
	/** The data ends at the start of this day (UTC); by default, of today. */
	day?: string | undefined;
	/** Whether the team worked in the days before, so that the log has events; their number may change. */
	isLively?: boolean | undefined;
}

type ValuesFor = (i: number, times: Times) => Record<string, unknown>;

/** Maximum number of deals, of tickets, of tasks and so on. */
const maxWork = 2000;

/**
 * Fills an empty database: the team, tags, pipelines and custom fields, the contacts, a company for
 * every ten of them, and a deal, a ticket and so on for every five. The same number of contacts on the same
 * day always gives the same data. A database with custom fields counts as not empty. The members who can sign in
 * are always added.
 */
export function seed(
	store: Store,
	contactCount: number,
	{ day = new Date().toISOString().slice(0, 10), isLively = false }: SeedOptions = {},
): void {
	const today = Date.parse(day);
	const end = isLively ? today - recentWorkMs : today;
	for (const { id, password } of demoMembers) store.members.add(id, password);
	if (store.table(customFields.name)!.count([], { includeDeleted: true }) > 0) return;
	const random = randomFrom(20_230_102);
	const fill = (resource: Resource, records: Iterable<StoredRecord>) => store.table(resource.name)!.fill(records);
	/** Creates records without owners and tags. */
	const make = (resource: Resource, count: number, generator: Random, values: ValuesFor) => {
		const records = [...history(resource, count, end, generator, values)];
		fill(resource, records);
		return records;
	};
	store.transaction(() => {
		make(customFields, customFieldSeeds.length, random, customFieldSeed);
		const team = make(users, userCount, randomFrom(2), (i) => userSeed(i, end));
		const labels = make(tags, tagCount, randomFrom(3), tagSeed);
		const staff = team.filter(({ status }) => status === 'active');
		const { assign, usage } = ownersAndTags(randomFrom(4), staff, labels);
		const makeOwned = (resource: Resource, count: number, generator: Random, values: ValuesFor) =>
			fill(resource, assign(history(resource, count, end, generator, values)));

		const companyCount = Math.ceil(contactCount / 10);
		const employers = [...assign(history(companies, companyCount, end, random, companySeeds(random)))];
		fill(companies, employers);
		makeOwned(contacts, contactCount, random, contactSeeds(random, employers));

		const work = Math.min(Math.floor(contactCount / 5), maxWork);
		const people = store.table(contacts.name)!.findAll([], maxWork);
		const workRandom = randomFrom(5);
		const funnels = make(pipelines, pipelineCount, workRandom, pipelineSeeds(workRandom));
		makeOwned(deals, work, workRandom, dealSeeds(workRandom, funnels, people, end));
		makeOwned(tickets, work, workRandom, ticketSeeds(workRandom, people, staff, end));
		const writtenTickets = store.table(tickets.name)!.findAll([], maxWork);
		make(messages, work, workRandom, messageSeeds(workRandom, writtenTickets, people, staff));
		const { task, note, activity } = workSeeds(workRandom, people, staff, end);
		makeOwned(tasks, work, workRandom, task);
		makeOwned(notes, work, workRandom, note);
		makeOwned(activities, work, workRandom, activity);

		const [machine] = make(customObjects, 1, workRandom, customObjectSeed);
		for (const field of history(customFields, machineFieldSeeds.length, end, workRandom, machineFieldSeed)) {
			store.table(customFields.name)!.save(field);
		}
		makeOwned(recordsOf(machine!), work, workRandom, machineSeeds(workRandom));

		for (const tag of labels) store.table(tags.name)!.save({ ...tag, usage: usage(tag) });
		if (isLively) workRecently(store, randomFrom(6), staff, today);
	});
}
