import { z } from 'zod/v4';

/** Requests per minute by plan. Enterprise limits are negotiated; this one is the sandbox's choice. */
export const plans = { starter: 1_000, pro: 5_000, enterprise: 20_000 } as const;

export type Plan = keyof typeof plans;

export const planNames = Object.keys(plans) as Plan[];

/** The account of this sandbox: one database holds one account. */
export const accountId = 'acc_01hk2q5m8r4t6v9x2b5n7m3k1h';

/** The account of the caller, with its plan and limits. */
export const accountSchema = z.object({
	id: z.string().meta({ title: 'ID', description: 'Identifies the account.' }),
	object: z.literal('account').meta({ title: 'Object', description: 'Type of the object.' }),
	name: z.string().meta({ title: 'Name', description: 'Name of the account.', examples: ['Sandbox'] }),
	plan: z.enum(planNames).meta({ title: 'Plan', description: 'The plan of the account.', examples: ['starter'] }),
	limits: z
		.object({
			requests_per_minute: z.int().meta({
				title: 'Requests per Minute',
				description: 'Maximum number of requests per minute.',
				examples: [1000],
			}),
			page_size: z.int().meta({ title: 'Page Size', description: 'Maximum number of records per page.', examples: [500] }),
			body_bytes: z.int().meta({ title: 'Body Bytes', description: 'Maximum size of a request body.', examples: [1_048_576] }),
			batch_items: z.int().meta({ title: 'Batch Items', description: 'Maximum number of items in a batch.', examples: [100] }),
			batch_body_bytes: z.int().meta({
				title: 'Batch Body Bytes',
				description: 'Maximum size of the body of a batch.',
				examples: [5_242_880],
			}),
		})
		.meta({ title: 'Limits', description: 'Limits of the account.' }),
}).meta({ id: 'Account', description: 'The account.' });

export type Account = z.output<typeof accountSchema>;
