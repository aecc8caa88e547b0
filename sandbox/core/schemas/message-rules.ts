import type { z } from 'zod/v4';
import type { FieldError } from '../foundation/problem.ts';
import { emailAddress, phoneNumber } from './fields.ts';
import type { Message } from './message-fields.ts';
import type { Consequence, RuleContext } from './resource.ts';

/** The address formats of channels that prescribe one. */
const addressTypes: Record<string, { type: z.ZodType; called: string }> = {
	email: { type: emailAddress, called: 'an email address' },
	sms: { type: phoneNumber, called: 'a phone number like +4930123456' },
	whatsapp: { type: phoneNumber, called: 'a phone number like +4930123456' },
	voice: { type: phoneNumber, called: 'a phone number like +4930123456' },
};

export function addressErrors(message: Message): FieldError[] {
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
export function contentErrors(message: Message, previous: Message | undefined): FieldError[] {
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
export function scheduleErrors(message: Message, previous: Message | undefined, at: string): FieldError[] {
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
export function contactOf({ direction, from, to }: Message, { findByEntry, find }: RuleContext): string | null {
	const addresses = (direction === 'inbound' ? [from ?? ''] : to).map((address) => address.trim().toLowerCase());
	const [found, another] = findByEntry('contacts', addresses);
	return found && !another && find('contacts', found.id) ? found.id : null;
}

/** The consequences of a received or sent message for its ticket and its contact. */
export function afterMessage(message: Message, previous: Message | undefined, { find, at }: RuleContext): Consequence[] {
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
