import { z } from 'zod/v4';
import { about } from './fields.ts';

/** Requests per minute by plan. Enterprise limits are negotiated; this one is the sandbox's choice. */
export const plans = { starter: 1_000, pro: 5_000, enterprise: 20_000 } as const;

export type Plan = keyof typeof plans;

export const planNames = Object.keys(plans) as Plan[];

/** The account of this sandbox: one database holds one account. */
export const accountId = 'acc_01hk2q5m8r4t6v9x2b5n7m3k1h';

/** The account of the caller, with its plan and limits. */
export const accountSchema = z.object({
	id: z.string().meta(about('Identifies the account.')),
	object: z.literal('account').meta(about('Type of the object.')),
	name: z.string().meta(about('Name of the account.', 'Sandbox')),
	plan: z.enum(planNames).meta(about('The plan of the account.', 'starter')),
	limits: z
		.object({
			requests_per_minute: z.int().meta(about('Maximum number of requests per minute.', 1000, { title: 'Requests per Minute' })),
			page_size: z.int().meta(about('Maximum number of records per page.', 500)),
			body_bytes: z.int().meta(about('Maximum size of a request body.', 1_048_576)),
			batch_items: z.int().meta(about('Maximum number of items in a batch.', 100)),
			batch_body_bytes: z.int().meta(about('Maximum size of the body of a batch.', 5_242_880)),
		})
		.meta(about('Limits of the account.')),
}).meta({ id: 'Account', description: 'The account.' });

export type Account = z.output<typeof accountSchema>;
