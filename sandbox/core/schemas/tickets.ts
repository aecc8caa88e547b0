import { z } from 'zod/v4';
import type { FieldError } from '../foundation/problem.ts';
import { channels } from './messages.ts';
import { about, choice, choiceOr, instant, readOnly, reference, requiredText, text } from './fields.ts';
import { sharedFields, systemFields } from './record.ts';
import { exampleId } from './request-examples.ts';
import { defineResource } from './resource.ts';

export const tickets = defineResource({
	name: 'tickets',
	object: 'ticket',
	idPrefix: 'tic',
	description: 'Requests for help.',
	visibility: { owner: 'owner_id' },
	fields: {
		number: z.int().min(1).meta(readOnly('Number of the ticket, shown to people.', 1042)),
		subject: requiredText(255).meta(about('Short summary.', 'Invoice shows the wrong address')),
		description: text(about('Details of the request.', 'The address on invoice 2231 is still our old one.'), 65_536),
		status: choiceOr(
			'new', ['new', 'open', 'pending', 'on_hold', 'solved', 'closed'],
			about(
				'Status of the ticket, set by updating it. Solved requires an assignee; closing a ticket that is not solved ' +
					'solves it as well; closed is final.',
				'open',
			),
		),
		priority: choiceOr('normal', ['low', 'normal', 'high', 'urgent'], about('Urgency of the ticket.', 'high')),
		type: choice(['question', 'incident', 'problem', 'task'], about('Kind of request.', 'question')),
		channel: choice(channels, about('Channel of the request.', 'email')),
		contact_id: reference('contacts', about('The person who made the request.', exampleId('con'))),
		company_id: reference('companies', about('The company of the requester.', exampleId('com'))),
		deal_id: reference('deals', about('The deal the ticket is about.', exampleId('dea'))),
		assignee_id: reference('users', about('The user who works on it.', exampleId('usr'))),
		follow_up_of_id: reference('tickets', about('The earlier ticket that this one continues.', exampleId('tic'), { title: 'Follow-Up Of' })),
		due_at: instant(about('Time the ticket is due.', '2025-03-04T16:00:00.000Z')),
		first_responded_at: instant(readOnly('Time of the first response.')),
		solved_at: instant(readOnly('Time the ticket was solved; null if it was reopened since.')),
		closed_at: instant(readOnly('Time the ticket was closed.')),
		last_message_at: instant(readOnly('Time of the last message on the ticket.')),
		satisfaction: choice(['good', 'bad'], about('Rating by the requester.', 'good')),
		...sharedFields,
		...systemFields('ticket'),
	},
	important: ['number', 'subject', 'description', 'status', 'priority', 'contact_id', 'assignee_id', 'due_at'],
	unique: { external_id: ['external_id'] },
	sortable: ['number', 'subject', 'due_at', 'solved_at', 'last_message_at'],
	searched: ['number', 'subject', 'description', 'external_id'],
	lookups: ['contact_id', 'company_id', 'deal_id', 'assignee_id'],

	states: {
		field: 'status',
		transitions: {
			new: ['open', 'pending', 'on_hold', 'solved', 'closed'],
			open: ['pending', 'on_hold', 'solved', 'closed'],
			pending: ['open', 'on_hold', 'solved', 'closed'],
			on_hold: ['open', 'pending', 'solved', 'closed'],
			solved: ['open', 'pending', 'on_hold', 'closed'],
			closed: [],
		},
	},

	events: {
		status_changed: {
			description: 'The status of a ticket was changed.',
			when: (ticket, previous) => previous !== undefined && ticket.status !== previous.status,
		},
		assigned: {
			description: 'A ticket was assigned to a user.',
			when: (ticket, previous) => ticket.assignee_id !== null && ticket.assignee_id !== previous?.assignee_id,
		},
		solved: {
			description: 'A ticket was solved, or closed without having been solved before.',
			when: (ticket, previous) => isSolved(ticket) && !isSolved(previous),
		},
		reopened: {
			description: 'A solved ticket was reopened.',
			when: (ticket, previous) => previous?.status === 'solved' && !isSolved(ticket),
		},
	},

	complete(ticket, previous, { at, next }) {
		return {
			number: previous?.number ?? next('tickets', 'number'),
			solved_at: isSolved(ticket) ? (previous?.solved_at ?? at) : null,
			closed_at: ticket.status === 'closed' ? (previous?.closed_at ?? at) : null,
		};
	},

	check(ticket, previous) {
		const errors: FieldError[] = [];
		if (isSolved(ticket) && ticket.assignee_id === null) {
			const detail = `A ticket that is ${ticket.status} needs an assignee.`;
			errors.push({ pointer: '/assignee_id', code: 'required', detail });
		}
		if (ticket.follow_up_of_id !== null && ticket.follow_up_of_id === previous?.id) {
			const detail = 'A ticket cannot follow up itself.';
			errors.push({ pointer: '/follow_up_of_id', code: 'invalid_value', detail });
		}
		return errors;
	},
});

/** A closed ticket counts as solved. */
function isSolved(ticket: { status: string } | undefined): boolean {
	return ticket?.status === 'solved' || ticket?.status === 'closed';
}
