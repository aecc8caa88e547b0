import { z } from 'zod/v4';
import { deliveryTransitions } from './message-delivery.ts';
import { instant, optional, reference, requiredText, text, webAddress } from './fields.ts';
import { sharedFields, systemFields } from './record.ts';
import { exampleId } from './request-examples.ts';

/** The channels of messages. */
export const channels = ['email', 'sms', 'whatsapp', 'messenger', 'instagram', 'telegram', 'webchat', 'voice', 'other'] as const;

const addresses = z.array(z.string().min(1).max(254)).max(100);

const attachments = z
	.array(
		z.strictObject({
			name: requiredText(255).meta({ title: 'Name', description: 'Name of the file.', examples: ['invoice.pdf'] }),
			url: webAddress.meta({
				title: 'URL',
				description: 'Address of the file.',
				examples: ['https://files.sandbox.example/invoice.pdf'],
			}),
			content_type: text({ title: 'Content Type', description: 'Media type of the file.', examples: ['application/pdf'] }),
			size: optional(z.int().min(0), { title: 'Size', description: 'Size in bytes.', examples: [48_213] }),
		}),
	)
	.max(20);

const deliveryError = optional(
	z.strictObject({
		code: z.string().meta({ title: 'Code', description: 'Error code.', examples: ['recipient_refused'] }),
		detail: z.string().meta({ title: 'Detail', description: 'Error message.', examples: ['The mailbox does not exist.'] }),
	}),
	{ title: 'Error', description: 'Reason the delivery failed.', readOnly: true },
);

const moment = (title: string, description: string) => instant({ title, description, readOnly: true });

export const messageFields = {
	channel: z.enum(channels).meta({ title: 'Channel', description: 'Channel of the message.', examples: ['email'], 'x-immutable': true }),
	direction: z.enum(['inbound', 'outbound']).meta({
		title: 'Direction',
		description: 'Whether the message was received (inbound) or sent (outbound).',
		examples: ['outbound'],
		'x-immutable': true,
	}),
	status: z.enum(Object.keys(deliveryTransitions) as [string, ...string[]]).meta({
		title: 'Status',
		description: 'Delivery status.',
		examples: ['queued'],
		readOnly: true,
	}),
	conversation_id: text(
		{
			title: 'Conversation',
			description: 'Shared by the messages of a conversation; generated if absent.',
			examples: [exampleId('cnv')],
		},
		64,
	),
	from: text({ title: 'From', description: 'Address or number of the sender.', examples: ['support@sandbox.example'] }),
	to: addresses.min(1).meta({
		title: 'To',
		description: 'Addresses or numbers of the recipients.',
		examples: [['ana.moreno@altamira.example']],
	}),
	cc: addresses.default([]).meta({ title: 'Cc', description: 'Recipients of a copy.' }),
	bcc: addresses.default([]).meta({ title: 'Bcc', description: 'Recipients of a blind copy.' }),
	subject: text({ title: 'Subject', description: 'Subject line.', examples: ['Your invoice'] }),
	text: text({ title: 'Text', description: 'Body as plain text.', examples: ['Here is the corrected invoice.'] }, 262_144),
	html: text({ title: 'HTML', description: 'Body as HTML.' }, 262_144),
	attachments: attachments.default([]).meta({ title: 'Attachments', description: 'Files attached to the message.' }),
	in_reply_to_id: reference('messages', {
		title: 'In Reply To',
		description: 'The message that this one replies to.',
		examples: [exampleId('msg')],
	}),
	contact_id: reference('contacts', {
		title: 'Contact',
		description: 'The person on the other side; by default, the only contact with this address or number.',
		examples: [exampleId('con')],
	}),
	ticket_id: reference('tickets', {
		title: 'Ticket',
		description: 'The ticket of the message. An inbound message reopens a ticket that is pending, on hold or solved.',
		examples: [exampleId('tic')],
	}),
	deal_id: reference('deals', { title: 'Deal', description: 'The deal of the message.', examples: [exampleId('dea')] }),
	user_id: reference('users', {
		title: 'User',
		description: 'The user who wrote or received the message; by default, the user who creates it.',
		examples: [exampleId('usr')],
	}),
	scheduled_at: instant({ title: 'Scheduled At', description: 'Time to send the message; immediately if absent.' }),
	sent_at: moment('Sent At', 'Time the message was sent.'),
	delivered_at: moment('Delivered At', 'Time the message was delivered.'),
	read_at: moment('Read At', 'Time the message was read.'),
	failed_at: moment('Failed At', 'Time the delivery failed.'),
	error: deliveryError,
	external_id: sharedFields.external_id,
	custom_fields: sharedFields.custom_fields,
	...systemFields('message'),
};

export type Message = z.output<z.ZodObject<typeof messageFields>>;
