import { deliveryTransitions, nextTransition, transientStates } from './message-delivery.ts';
import { about, pointInTime } from './fields.ts';
import { messageFields } from './message-fields.ts';
import { addressErrors, afterMessage, contactOf, contentErrors, scheduleErrors } from './message-rules.ts';
import { exampleId } from './request-examples.ts';
import { defineResource, entersStatus } from './resource.ts';

/** Whether a message can still enter a state; a scheduled one can be rescheduled. */
const mayBecome = (status: string) => (message: { status: string }): boolean => {
	const next: readonly string[] = deliveryTransitions[message.status as keyof typeof deliveryTransitions] ?? [];
	return next.includes(status) || (status === 'scheduled' && message.status === status);
};

export const messages = defineResource({
	name: 'messages',
	object: 'message',
	idPrefix: 'msg',
	description: 'Messages to and from people, on any channel.',
	visibility: { user: 'user_id', through: ['contact_id', 'ticket_id', 'deal_id'] },
	fields: messageFields,
	important: ['channel', 'direction', 'status', 'from', 'to', 'subject', 'text', 'contact_id'],
	examples: { update: { contact_id: exampleId('con') } },
	unique: { external_id: ['external_id'] },
	sortable: ['scheduled_at', 'sent_at'],
	searched: ['subject', 'text', 'from', 'external_id'],
	lookups: ['status', 'conversation_id', 'contact_id', 'ticket_id', 'deal_id'],

	states: { field: 'status', transitions: deliveryTransitions, timed: { states: transientStates, next: nextTransition } },

	events: {
		received: entersStatus('received', 'A message was received.'),
		sent: entersStatus('sent', 'A message was sent.'),
		delivered: entersStatus('delivered', 'A message was delivered.'),
		read: entersStatus('read', 'A message was read.'),
		failed: entersStatus('failed', 'A message could not be sent.'),
	},

	complete(message, previous, context) {
		const { at, actor, find, newId } = context;
		const isDue = message.scheduled_at === null || message.scheduled_at <= at;
		const initial = message.direction === 'inbound' ? 'received' : isDue ? 'queued' : 'scheduled';
		const status = message.status ?? initial;
		const parentMessage = message.in_reply_to_id && find('messages', message.in_reply_to_id);
		const { ticket_id: ticket, deal_id: deal } = message;
		const contact = message.contact_id ?? (previous ? null : contactOf(message, context));
		// Otherwise a user could not see a message of their own that is linked to no record.
		const writer = previous || contact || ticket || deal || actor.type !== 'user' ? null : actor.id;
		const since = (state: string, stored: string | null | undefined) => stored ?? (status === state ? at : null);
		return {
			status,
			contact_id: contact,
			user_id: message.user_id ?? writer,
			conversation_id: message.conversation_id ?? (parentMessage ? String(parentMessage['conversation_id']) : newId('cnv')),
			sent_at: since('sent', previous?.sent_at),
			delivered_at: since('delivered', previous?.delivered_at),
			read_at: since('read', previous?.read_at),
			failed_at: since('failed', previous?.failed_at),
		};
	},

	check: (message, previous, { at }) => [
		...addressErrors(message),
		...contentErrors(message, previous),
		...scheduleErrors(message, previous, at),
	],

	consequences: afterMessage,

	actions: {
		send: {
			summary: 'Send a message',
			description: 'Sends a scheduled message immediately.',
			isPossible: mayBecome('queued'),
			change: () => ({ status: 'queued', scheduled_at: null }),
		},
		schedule: {
			summary: 'Schedule a message',
			description: 'Changes when a scheduled message is sent.',
			isPossible: mayBecome('scheduled'),
			input: { scheduled_at: pointInTime.meta(about('Time to send the message.', '2027-01-04T08:00:00.000Z')) },
			change: (_message, input) => ({ status: 'scheduled', scheduled_at: input['scheduled_at'] as string }),
		},
		cancel: {
			summary: 'Cancel a message',
			description: 'Cancels a scheduled or queued message before it is sent.',
			isPossible: mayBecome('canceled'),
			change: () => ({ status: 'canceled' }),
		},
	},
});
