import { z } from 'zod/v4';
import { optional, plainText, text, webAddress } from './fields.ts';

export const addresses = z.array(z.string().min(1).max(254)).max(100);

export const attachments = z
	.array(
		z.strictObject({
			name: plainText().min(1).max(255).meta({
				title: 'Name',
				description: 'Name of the file.',
				examples: ['invoice.pdf'],
			}),
			url: webAddress.meta({
				title: 'URL',
				description: 'Where the file is.',
				examples: ['https://files.sandbox.example/invoice.pdf'],
			}),
			content_type: text({
				title: 'Content Type',
				description: 'What kind of file it is.',
				examples: ['application/pdf'],
			}),
			size: optional(z.int().min(0), {
				title: 'Size',
				description: 'How large it is, in bytes.',
				examples: [48_213],
			}),
		}),
	)
	.max(20);

export const deliveryError = optional(
	z.strictObject({
		code: z.string().meta({
			title: 'Code',
			description: 'What went wrong, for programs.',
			examples: ['recipient_refused'],
		}),
		detail: z.string().meta({
			title: 'Detail',
			description: 'What went wrong, in words.',
			examples: ['The mailbox does not exist.'],
		}),
	}),
	{ title: 'Error', description: 'Why sending it failed.', readOnly: true },
);
