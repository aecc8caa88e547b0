import type { StoredRecord } from '../core/schemas/resource.ts';
import type { Times } from './history.ts';
import type { Random } from './random.ts';

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
