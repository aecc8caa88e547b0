import { z } from 'zod/v4';
import { planNames } from '../foundation/plans.ts';

/** The account of the caller, with its plan and limits. */
export const accountSchema = z.object({
	id: z.string().meta({ title: 'ID', description: 'Identifies the account.' }),
	object: z.literal('account').meta({ title: 'Object', description: 'The kind of record this is.' }),
	name: z.string().meta({
		title: 'Name',
		description: 'Name of the account.',
		examples: ['Sandbox'],
	}),
	plan: z.enum(planNames).meta({
		title: 'Plan',
		description: 'The plan of the account.',
		examples: ['starter'],
	}),
	limits: z
		.object({
			requests_per_minute: z.int().meta({
				title: 'Requests per Minute',
				description: 'Maximum number of requests per minute.',
				examples: [1000],
			}),
			page_size: z.int().meta({
				title: 'Page Size',
				description: 'Maximum number of records per page.',
				examples: [500],
			}),
			body_bytes: z.int().meta({
				title: 'Body Bytes',
				description: 'Maximum size of a request body.',
				examples: [1_048_576],
			}),
			batch_items: z.int().meta({
				title: 'Batch Items',
				description: 'Maximum number of items in a batch.',
				examples: [100],
			}),
			batch_body_bytes: z.int().meta({
				title: 'Batch Body Bytes',
				description: 'Maximum size of the body of a batch.',
				examples: [5_242_880],
			}),
		})
		.meta({ title: 'Limits', description: 'Limits of the account.' }),
}).meta({ id: 'Account', description: 'The account.' });

export type Account = z.output<typeof accountSchema>;
