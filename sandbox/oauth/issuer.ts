import type { Context } from 'hono';

/** The server's name for itself: the address it was called at, as it has no other. */
export const issuerOf = (c: Context): string => new URL(c.req.url).origin;
