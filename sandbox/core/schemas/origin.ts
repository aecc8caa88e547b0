import { z } from 'zod/v4';

export const actorSchema = z.strictObject({
	type: z.string().meta({ title: 'Type', description: 'api_key, user or system.' }),
	id: z.string().meta({ title: 'ID', description: 'ID of the API key, the user or the part of the service.' }),
});

/** Who makes a change: an API key, a user or the service itself. */
export type Actor = z.output<typeof actorSchema>;

export const requestOriginSchema = z.strictObject({
	id: z.string().meta({ title: 'ID', description: 'X-Request-Id of the request.' }),
	idempotency_key: z.string().nullable().meta({ title: 'Idempotency Key', description: 'Idempotency-Key of the request, if any.' }),
});

/** The request that caused a change, in the format of Stripe's events. */
export type RequestOrigin = z.output<typeof requestOriginSchema>;
