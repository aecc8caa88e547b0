import type { StoredRecord } from '../core/schemas/resource.ts';
import { daysAfter, type Times } from './history.ts';
import type { Random } from './random.ts';

/** Subject, description, type. */
const requests = [
	['Invoice shows the wrong address', 'The address on it is still our old one.', 'problem'],
	['Cannot sign in', 'The page says that the link has expired.', 'incident'],
	['How do we export our data?', 'We need a list of all orders for our auditors.', 'question'],
	['Delivery is incomplete', 'Two of the ten boxes are missing.', 'problem'],
	['Please add three users', 'They begin on the first of next month.', 'task'],
	['The app is slow since Monday', 'Opening an order takes half a minute.', 'incident'],
	['Question about the contract', 'When does it renew, and at what price?', 'question'],
] as const;

/** Repeated in proportion to their frequency. */
const statuses = ['new', 'open', 'pending', 'on_hold', 'solved', 'solved', 'closed', 'closed'];

/**
 * @param people the contacts who ask
 * @param team the users who answer
 * @param end the instant at which the data ends; tickets that are not solved are due about then
 * @returns a function that creates the values of the next ticket
 */
export function ticketSeeds(random: Random, people: StoredRecord[], team: StoredRecord[], end: number) {
	return (i: number, { createdAt, updatedAt }: Times): Record<string, unknown> => {
		const [subject, description, type] = random.pick(requests);
		const contact = random.pick(people);
		const status = random.pick(statuses);
		const isSolved = status === 'solved' || status === 'closed';
		const isAssigned = status !== 'new';
		return {
			number: i + 1,
			subject,
			description,
			status,
			priority: random.pick(['low', 'normal', 'normal', 'normal', 'high', 'urgent']),
			type,
			channel: random.pick(['email', 'email', 'webchat', 'whatsapp', 'voice']),
			contact_id: contact.id,
			company_id: contact['company_id'],
			assignee_id: isAssigned ? random.pick(team).id : null,
			due_at: random.chance(0.3) ? (isSolved ? daysAfter(createdAt, 3) : daysAfter(end, (i % 6) - 1)) : null,
			first_responded_at: isAssigned ? updatedAt : null,
			solved_at: isSolved ? updatedAt : null,
			closed_at: status === 'closed' ? updatedAt : null,
			last_message_at: isAssigned ? updatedAt : null,
			satisfaction: isSolved && random.chance(0.4) ? random.pick(['good', 'good', 'bad']) : null,
			external_id: random.chance(0.2) ? `help-${70_000 + i}` : null,
			custom_fields: {},
		};
	};
}

const questions = [
	'Could you have a look at this? It is rather urgent for us.',
	'Thanks for the quick reply. It still does not work, see the attached picture.',
	'Any news? We would like to close this before the end of the month.',
];
const answers = [
	'Thank you for writing. We are looking into it and come back to you today.',
	'This is fixed now. Could you try again, please?', 'Could you send us the number of the order?',
];
const support = 'support@sandbox.example';

/**
 * @param tickets the tickets that messages are about
 * @param people the contacts who ask, found by their id
 * @param team the users who answer
 * @returns a function that creates the values of the next message
 */
export function messageSeeds(random: Random, tickets: StoredRecord[], people: StoredRecord[], team: StoredRecord[]) {
	const byId = new Map(people.map((person) => [person.id, person]));
	return (_i: number, { createdAt, updatedAt }: Times): Record<string, unknown> => {
		const ticket = random.pick(tickets);
		const contact = byId.get(String(ticket['contact_id']))!;
		const isInbound = random.chance(0.5);
		const isRead = random.chance(0.7);
		const address = (contact['email'] as string | null) ?? `visitor-${contact.id.slice(-6)}`;
		return {
			channel: contact['email'] === null ? 'webchat' : 'email',
			direction: isInbound ? 'inbound' : 'outbound',
			status: isRead ? 'read' : isInbound ? 'received' : 'delivered',
			conversation_id: ticket.id.replace('tic_', 'cnv_'),
			from: isInbound ? address : support,
			to: [isInbound ? support : address],
			subject: `[${ticket['number']}] ${ticket['subject']}`,
			text: random.pick(isInbound ? questions : answers),
			contact_id: contact.id,
			ticket_id: ticket.id,
			user_id: isInbound ? null : random.pick(team).id,
			cc: [],
			bcc: [],
			attachments: [],
			sent_at: isInbound ? null : createdAt,
			delivered_at: isInbound ? null : createdAt,
			read_at: isRead ? updatedAt : null,
			custom_fields: {},
		};
	};
}
