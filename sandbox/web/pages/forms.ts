import { every } from 'hono/combine';
import { createMiddleware } from 'hono/factory';
import type { Context } from 'hono';
import type { Env } from '../../core/service.ts';
import { refusalPage } from './page.ts';

const limitForm = (maxSize: number) =>
	createMiddleware<Env>(async (c, next) => {
		if ((await c.req.text()).length <= maxSize) return next();
		return refusalPage(c, 422, 'Too long', 'This form contains too much text.');
	});

/** Four times the longest text of a record. */
const maxFormSize = 1024 * 1024;

/** The limit of forms that need no session. */
const maxSmallFormSize = 16 * 1024;

/**
 * Refuses forms that another site submits (OWASP, Cross-Site Request Forgery Prevention). This protects
 * the sign-in form as well, which has no session to hold a token.
 */
const ownForms = createMiddleware<Env>(async (c, next) => {
	const site = c.req.header('Sec-Fetch-Site');
	const isOwnSite = site === undefined || site === 'same-origin' || site === 'none';
	if (isOwnSite && isOwnOrigin(c)) return next();
	return refuseForeignForm(c);
});

/** The middleware of every route that takes a form. */
export const formMiddleware = every(limitForm(maxFormSize), ownForms);

/** The middleware of forms that need no session. */
export const smallFormMiddleware = every(limitForm(maxSmallFormSize), ownForms);

export const refuseForeignForm = (c: Context<Env>) =>
	refusalPage(
		c,
		403,
		'This form was not sent from this site',
		'It came from another site, or you have signed in again since opening the page. Reload the page.',
	);

export const readForm = async (c: Context<Env>): Promise<URLSearchParams> => new URLSearchParams(await c.req.text());

/** Whether the form is from this site. Hosts are compared, not origins, because a proxy may terminate TLS. */
function isOwnOrigin(c: Context<Env>): boolean {
	const origin = c.req.header('Origin');
	if (origin === undefined) return true;
	return URL.canParse(origin) && new URL(origin).host === new URL(c.req.url).host;
}
