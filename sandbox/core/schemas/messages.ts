import {
	about,
	pointInTime,
	emailAddress,
	phoneNumber,
	instant,
	optional,
	readOnly,
	reference,
	requiredText,
	text,
	webAddress,
} from './fields.ts';
import { exampleId } from './request-examples.ts';
import { defineResource, entersStatus, type Consequence, type RuleContext } from './resource.ts';
import { z } from 'zod/v4';
import type { FieldError } from '../foundation/problem.ts';
import { sharedFields, systemFields } from './record.ts';

/** The transitions that each state of a message allows. */
const deliveryTransitions = {
	scheduled: ['queued', 'canceled'],
	queued: ['sending', 'failed', 'canceled'],
	sending: ['sent', 'failed'],
	sent: ['delivered', 'failed'],
	delivered: ['read'],
	received: ['read'],
	read: [],
	failed: [],
	canceled: [],
};

/** The states that a message leaves automatically. */
const transientStates = ['scheduled', 'queued', 'sending', 'sent'];

/** How long a message stays in a state, in milliseconds, because the sandbox has no real carrier. */
const stayMs: Record<string, number> = { queued: 1000, sending: 1000, sent: 3000 };

interface MessageInTransit {
	status: string;
	to: string[];
	scheduled_at: string | null;
}

/**
 * The next timed transition of a message. Messages to an address that begins with `bounce` fail, so
 * that users can try out failures.
 *
 * @param since the instant of the last change
 */
function nextTransition(message: MessageInTransit, since: string) {
	const { status, to, scheduled_at: scheduledAt } = message;
	if (status === 'scheduled') return { at: scheduledAt!, change: { status: 'queued' } };
	const at = new Date(Date.parse(since) + stayMs[status]!).toISOString();
	if (status === 'queued') return { at, change: { status: 'sending' } };
	if (status === 'sent') return { at, change: { status: 'delivered' } };
	const refusedAddress = to.find((address) => address.startsWith('bounce'));
	if (refusedAddress === undefined) return { at, change: { status: 'sent' } };
	const error = { code: 'recipient_refused', detail: `${refusedAddress} does not accept messages.` };
	return { at, change: { status: 'failed', error } };
}

/** The channels of messages. */
export const channels = ['email', 'sms', 'whatsapp', 'messenger', 'instagram', 'telegram', 'webchat', 'voice', 'other'] as const;

const addresses = z.array(z.string().min(1).max(254)).max(100);

const attachments = z
	.array(
		z.strictObject({
			name: requiredText(255).meta(about('Name of the file.', 'invoice.pdf')),
			url: webAddress.meta(about('Address of the file.', 'https://files.sandbox.example/invoice.pdf')),
			content_type: text(about('Media type of the file.', 'application/pdf')),
			size: optional(z.int().min(0), about('Size in bytes.', 48_213)),
		}),
	)
	.max(20);

const deliveryError = optional(
	z.strictObject({
		code: z.string().meta(about('Error code.', 'recipient_refused')),
		detail: z.string().meta(about('Error message.', 'The mailbox does not exist.')),
	}),
	readOnly('Reason the delivery failed.', undefined, { title: 'Error' }),
);

const messageFields = {
	channel: z.enum(channels).meta(about('Channel of the message.', 'email', { 'x-immutable': true })),
	direction: z.enum(['inbound', 'outbound']).meta(
		about('Whether the message was received (inbound) or sent (outbound).', 'outbound', { 'x-immutable': true }),
	),
	status: z.enum(Object.keys(deliveryTransitions) as [string, ...string[]]).meta(readOnly('Delivery status.', 'queued')),
	conversation_id: text(about('Shared by the messages of a conversation; generated if absent.', exampleId('cnv')), 64),
	from: text(about('Address or number of the sender.', 'support@sandbox.example')),
	to: addresses.min(1).meta(about('Addresses or numbers of the recipients.', ['ana.moreno@altamira.example'])),
	cc: addresses.default([]).meta(about('Recipients of a copy.')),
	bcc: addresses.default([]).meta(about('Recipients of a blind copy.')),
	subject: text(about('Subject line.', 'Your invoice')),
	text: text(about('Body as plain text.', 'Here is the corrected invoice.'), 262_144),
	html: text(about('Body as HTML.'), 262_144),
	attachments: attachments.default([]).meta(about('Files attached to the message.')),
	in_reply_to_id: reference('messages', about('The message that this one replies to.', exampleId('msg'))),
	contact_id: reference(
		'contacts',
		about('The person on the other side; by default, the only contact with this address or number.', exampleId('con')),
	),
	ticket_id: reference(
		'tickets',
		about('The ticket of the message. An inbound message reopens a ticket that is pending, on hold or solved.', exampleId('tic')),
	),
	deal_id: reference('deals', about('The deal of the message.', exampleId('dea'))),
	user_id: reference('users', about('The user who wrote or received the message; by default, the user who creates it.', exampleId('usr'))),
	scheduled_at: instant(about('Time to send the message; immediately if absent.')),
	sent_at: instant(readOnly('Time the message was sent.')),
	delivered_at: instant(readOnly('Time the message was delivered.')),
	read_at: instant(readOnly('Time the message was read.')),
	failed_at: instant(readOnly('Time the delivery failed.')),
	error: deliveryError,
	external_id: sharedFields.external_id,
	custom_fields: sharedFields.custom_fields,
	...systemFields('message'),
};

type Message = z.output<z.ZodObject<typeof messageFields>>;

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
