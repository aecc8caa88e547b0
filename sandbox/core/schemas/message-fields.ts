import { z } from 'zod/v4';
import { about, instant, optional, readOnly, reference, requiredText, text, webAddress } from './fields.ts';
import { sharedFields, systemFields } from './record.ts';
import { exampleId } from './request-examples.ts';

/** The transitions that each state of a message allows. */
export const deliveryTransitions = {
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
export const transientStates = ['scheduled', 'queued', 'sending', 'sent'];

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
export function nextTransition(message: MessageInTransit, since: string) {
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

export const messageFields = {
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

export type Message = z.output<z.ZodObject<typeof messageFields>>;
