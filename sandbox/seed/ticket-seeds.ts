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
