import { z } from 'zod/v4';
import { about } from './fields.ts';

export const actorSchema = z.strictObject({
	type: z.string().meta(about('api_key, user or system.')),
	id: z.string().meta(about('ID of the API key, the user or the part of the service.')),
});

/** Who makes a change: an API key, a user or the service itself. */
export type Actor = z.output<typeof actorSchema>;

export const requestOriginSchema = z.strictObject({
	id: z.string().meta(about('X-Request-Id of the request.')),
	idempotency_key: z.string().nullable().meta(about('Idempotency-Key of the request, if any.')),
});

/** The request that caused a change, in the format of Stripe's events. */
export type RequestOrigin = z.output<typeof requestOriginSchema>;
