import type { Context } from 'hono';

/** The issuer identifier: the origin of the request, because the service has no configured address. */
export const issuerOf = (c: Context): string => new URL(c.req.url).origin;
