import type { Context } from 'hono';
import { createMiddleware } from 'hono/factory';
import type { Env } from '../../core/service.ts';
import { refusalPage } from './page.ts';

/** Four times the longest text of a record. */
const maxFormSize = 1024 * 1024;

/**
 * The middleware of every route that takes a form. It refuses forms that another site submits (OWASP, Cross-Site
 * Request Forgery Prevention), and has read the whole form before the session is looked up.
 */
export const formMiddleware = createMiddleware<Env>(async (c, next) => {
	const site = c.req.header('Sec-Fetch-Site') ?? 'none';
	if (!['same-origin', 'none'].includes(site) || !isOwnOrigin(c)) {
		return refusalPage(c, 403, 'This form was not sent from this site', 'It came from another site. Open the page here.');
	}
	if ((await c.req.text()).length <= maxFormSize) return next();
	return refusalPage(c, 422, 'Too long', 'This form contains too much text.');
});

export const readForm = async (c: Context<Env>): Promise<URLSearchParams> => new URLSearchParams(await c.req.text());

/** Whether the form is from this site. Hosts are compared, not origins, because a proxy may terminate TLS. */
function isOwnOrigin(c: Context<Env>): boolean {
	const origin = c.req.header('Origin');
	if (origin === undefined) return true;
	return URL.canParse(origin) && new URL(origin).host === new URL(c.req.url).host;
}
