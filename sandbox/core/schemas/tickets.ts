import { z } from 'zod/v4';
import type { FieldError } from '../foundation/problem.ts';
import { channels } from './message-fields.ts';
import { choice, choiceOr, instant, reference, requiredText, text } from './fields.ts';
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
		number: z.int().min(1).meta({
			title: 'Number',
			description: 'Number of the ticket, shown to people.',
			examples: [1042],
			readOnly: true,
		}),
		subject: requiredText(255).meta({
			title: 'Subject',
			description: 'Short summary.',
			examples: ['Invoice shows the wrong address'],
		}),
		description: text(
			{
				title: 'Description',
				description: 'Details of the request.',
				examples: ['The address on invoice 2231 is still our old one.'],
			},
			65_536,
		),
		status: choiceOr('new', ['new', 'open', 'pending', 'on_hold', 'solved', 'closed'], {
			title: 'Status',
			description:
				'Status of the ticket, set by updating it. Solved requires an assignee; closing a ticket that is not solved solves it as well; closed is final.',
			examples: ['open'],
		}),
		priority: choiceOr('normal', ['low', 'normal', 'high', 'urgent'], {
			title: 'Priority',
			description: 'Urgency of the ticket.',
			examples: ['high'],
		}),
		type: choice(['question', 'incident', 'problem', 'task'], {
			title: 'Type',
			description: 'Kind of request.',
			examples: ['question'],
		}),
		channel: choice(channels, { title: 'Channel', description: 'Channel of the request.', examples: ['email'] }),
		contact_id: reference('contacts', {
			title: 'Contact',
			description: 'The person who made the request.',
			examples: [exampleId('con')],
		}),
		company_id: reference('companies', {
			title: 'Company',
			description: 'The company of the requester.',
			examples: [exampleId('com')],
		}),
		deal_id: reference('deals', { title: 'Deal', description: 'The deal the ticket is about.', examples: [exampleId('dea')] }),
		assignee_id: reference('users', { title: 'Assignee', description: 'The user who works on it.', examples: [exampleId('usr')] }),
		follow_up_of_id: reference('tickets', {
			title: 'Follow-Up Of',
			description: 'The earlier ticket that this one continues.',
			examples: [exampleId('tic')],
		}),
		due_at: instant({ title: 'Due At', description: 'Time the ticket is due.', examples: ['2025-03-04T16:00:00.000Z'] }),
		first_responded_at: instant({ title: 'First Responded At', description: 'Time of the first response.', readOnly: true }),
		solved_at: instant({
			title: 'Solved At',
			description: 'Time the ticket was solved; null if it was reopened since.',
			readOnly: true,
		}),
		closed_at: instant({ title: 'Closed At', description: 'Time the ticket was closed.', readOnly: true }),
		last_message_at: instant({ title: 'Last Message At', description: 'Time of the last message on the ticket.', readOnly: true }),
		satisfaction: choice(['good', 'bad'], { title: 'Satisfaction', description: 'Rating by the requester.', examples: ['good'] }),
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
