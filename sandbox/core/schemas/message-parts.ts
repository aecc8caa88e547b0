import { z } from 'zod/v4';
import { optional, plainText, text, webAddress } from './fields.ts';

/** The channels of messages. */
export const channels = ['email', 'sms', 'whatsapp', 'messenger', 'instagram', 'telegram', 'webchat', 'voice', 'other'] as const;

export const addresses = z.array(z.string().min(1).max(254)).max(100);

export const attachments = z
	.array(
		z.strictObject({
			name: plainText().min(1).max(255).meta({ title: 'Name', description: 'Name of the file.', examples: ['invoice.pdf'] }),
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

export const deliveryError = optional(
	z.strictObject({
		code: z.string().meta({ title: 'Code', description: 'Error code.', examples: ['recipient_refused'] }),
		detail: z.string().meta({ title: 'Detail', description: 'Error message.', examples: ['The mailbox does not exist.'] }),
	}),
	{ title: 'Error', description: 'Reason the delivery failed.', readOnly: true },
);
