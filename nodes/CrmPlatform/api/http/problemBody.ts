import { z } from 'zod';

/** RFC 9457, with the members this API adds. Everything is optional: proxies answer too. */
export const problemBody = z
	.object({
		title: z.string(),
		detail: z.string(),
		code: z.string(),
		request_id: z.string(),
		existing_id: z.string(),
		scope: z.string(),
		allowed: z.array(z.string()),
		errors: z.array(
			z
				.object({ pointer: z.string(), parameter: z.string(), code: z.string(), detail: z.string() })
				.partial(),
		),
	})
	.partial();

export type ProblemBody = z.infer<typeof problemBody>;
