import { deliveryTransitions, nextTransition, transientStates, messageFields, type Message } from './message-fields.ts';
import { about, pointInTime, emailAddress, phoneNumber } from './fields.ts';
import { exampleId } from './request-examples.ts';
import { defineResource, entersStatus, type Consequence, type RuleContext } from './resource.ts';
import type { z } from 'zod/v4';
import type { FieldError } from '../foundation/problem.ts';

/** The address formats of channels that prescribe one. */
const addressTypes: Record<string, { type: z.ZodType; called: string }> = {
	email: { type: emailAddress, called: 'an email address' },
	sms: { type: phoneNumber, called: 'a phone number like +4930123456' },
	whatsapp: { type: phoneNumber, called: 'a phone number like +4930123456' },
	voice: { type: phoneNumber, called: 'a phone number like +4930123456' },
};

function addressErrors(message: Message): FieldError[] {
	const address = addressTypes[message.channel];
	if (!address) return [];
	return (['to', 'cc', 'bcc'] as const).flatMap((field) =>
		message[field].flatMap((value, i) => {
			if (address.type.safeParse(value).success) return [];
			const detail = `Expected ${address.called} for ${message.channel}.`;
			return [{ pointer: `/${field}/${i}`, code: 'invalid_format', detail }];
		}),
	);
}

const contentFields = ['from', 'to', 'cc', 'bcc', 'subject', 'text', 'html', 'attachments'] as const;

/** Requires content, and refuses changes of it after the message was sent. */
function contentErrors(message: Message, previous: Message | undefined): FieldError[] {
	const { text, html, attachments } = message;
	if (!text && !html && attachments.length === 0) {
		const detail = 'A message needs at least one of text, html, attachments.';
		return [{ pointer: '', code: 'required', detail }];
	}
	if (!previous || previous.status === 'scheduled') return [];
	return contentFields.filter((field) => JSON.stringify(message[field]) !== JSON.stringify(previous[field]))
		.map((field) => ({
			pointer: `/${field}`,
			code: 'immutable',
			detail: `The message is ${previous.status}; ${field} can no longer be changed.`,
		}));
}

/** Allows scheduling only in the future, and only before the message is sent. */
function scheduleErrors(message: Message, previous: Message | undefined, at: string): FieldError[] {
	const refuse = (code: string, detail: string) => [{ pointer: '/scheduled_at', code, detail }];
	const { scheduled_at: time } = message;
	if (message.direction === 'inbound' && time !== null) {
		return refuse('invalid_value', 'A received message cannot be scheduled.');
	}
	if (message.status === 'scheduled' && (time === null || time <= at)) {
		return refuse('invalid_value', 'A scheduled message needs a time in the future.');
	}
	const isChanged = previous && previous.scheduled_at !== time;
	if (isChanged && previous.status !== 'scheduled' && message.status === previous.status) {
		return refuse('immutable', `The message is ${message.status}; it can no longer be scheduled.`);
	}
	return [];
}

/** The only contact with the address or number of the sender (inbound) or of a recipient (outbound), if the caller may see it. */
function contactOf({ direction, from, to }: Message, { findByEntry, find }: RuleContext): string | null {
	const addresses = (direction === 'inbound' ? [from ?? ''] : to).map((address) => address.trim().toLowerCase());
	const [found, another] = findByEntry('contacts', addresses);
	return found && !another && find('contacts', found.id) ? found.id : null;
}

/** The consequences of a received or sent message for its ticket and its contact. */
function afterMessage(message: Message, previous: Message | undefined, { find, at }: RuleContext): Consequence[] {
	const hasNewStatus = message.status !== previous?.status;
	const isReceived = hasNewStatus && message.status === 'received';
	const isSent = hasNewStatus && message.status === 'sent';
	if (!isReceived && !isSent) return [];
	const ticket = message.ticket_id && find('tickets', message.ticket_id);
	const contact = message.contact_id && find('contacts', message.contact_id);
	const isWaiting = ticket && ['pending', 'on_hold', 'solved'].includes(String(ticket['status']));
	const onTicket = {
		last_message_at: at,
		...(isReceived && isWaiting && { status: 'open' }),
		...(isSent && ticket && { first_responded_at: ticket['first_responded_at'] ?? at }),
	};
	return [
		...(ticket ? [{ resource: 'tickets', id: ticket.id, change: onTicket }] : []),
		...(contact ? [{ resource: 'contacts', id: contact.id, change: { last_contacted_at: at } }] : []),
	];
}

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
