import type { StoredRecord } from '../core/schemas/resource.ts';
import { daysAfter, type Times } from './history.ts';
import type { Random } from './random.ts';

const chores = [
	['Call back about the offer', 'call'],
	['Send the revised contract', 'email'],
	['Prepare the quarterly review', 'meeting'],
	['Check the delivery date', 'to_do'],
	['Ask for a reference', 'follow_up'],
] as const;
const remarks = [
	'Wants an offer before the end of the quarter.', 'Prefers email; hard to reach by phone.',
	'Decides together with the finance department.', 'Moves to a new office in autumn, so no deliveries in September.',
	'Was very happy with the last project.',
];
const encounters = [
	['call', 'Questions about the offer', 'Delivery date is fine, price still open.'],
	['meeting', 'Kick-off', 'Went through the plan, first delivery in six weeks.'],
	['demo', 'Product demonstration', 'Liked the reports; asked about the interface to the ERP.'],
	['visit', 'Visit on site', 'Saw the warehouse; they need scanners as well.'],
	['email', 'Thanks for the call', 'Sent the summary and the price list.'],
] as const;

/** Links to a contact, and sometimes to the contact's company. */
const linksTo = (contact: StoredRecord, { withCompany = false } = {}) => [
	{ resource: 'contacts', id: contact.id },
	...(withCompany && contact['company_id'] !== null ? [{ resource: 'companies', id: contact['company_id'] }] : []),
];

/**
 * The tasks, notes and activities of the team.
 *
 * @param end the instant at which the data ends; open tasks are due about then
 * @returns for each record type, a function that creates the values of the next one
 */
export function workSeeds(random: Random, people: StoredRecord[], team: StoredRecord[], end: number) {
	return {
		task(_i: number, { createdAt, updatedAt }: Times): Record<string, unknown> {
			const [title, type] = random.pick(chores);
			const status = random.pick(['not_started', 'in_progress', 'waiting', 'completed', 'completed']);
			return {
				title,
				type,
				status,
				priority: random.pick(['low', 'normal', 'normal', 'high']),
				due_at: status === 'completed' ? daysAfter(createdAt, 1 + random.below(30)) : daysAfter(end, random.below(30) - 5),
				all_day: random.chance(0.5),
				assignee_id: random.pick(team).id,
				completed_at: status === 'completed' ? updatedAt : null,
				links: linksTo(random.pick(people)),
				custom_fields: {},
			};
		},

		note: (): Record<string, unknown> => ({
			body: random.pick(remarks),
			body_format: 'plain',
			pinned: random.chance(0.1),
			author_id: random.pick(team).id,
			links: linksTo(random.pick(people), { withCompany: random.chance(0.4) }),
			custom_fields: {},
		}),

		activity(_i: number, { createdAt }: Times): Record<string, unknown> {
			const [type, subject, body] = random.pick(encounters);
			const contact = random.pick(people);
			return {
				type,
				subject,
				body,
				occurred_at: createdAt,
				duration_seconds: type === 'email' ? null : 60 * (5 + random.below(85)),
				direction: random.pick(['inbound', 'outbound']),
				outcome: 'completed',
				participants: [{ name: contact['name'], email: contact['email'] }],
				links: linksTo(contact, { withCompany: true }),
				custom_fields: {},
			};
		},
	};
}
