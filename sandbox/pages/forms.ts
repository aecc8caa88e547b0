import { bodyLimit } from 'hono/body-limit';
import { every } from 'hono/combine';
import { createMiddleware } from 'hono/factory';
import type { Context } from 'hono';
import type { Env } from '../http/service.ts';
import { refusalPage } from './page.ts';

const limitForm = bodyLimit({
	// The longest texts of records have a quarter of that.
	maxSize: 1024 * 1024,
	onError: (c) => refusalPage(c, 422, 'Too long', 'This form was filled in with too much text.'),
});

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
export const formMiddleware = every(limitForm, ownForms);

export const refuseForeignForm = (c: Context<Env>) =>
	refusalPage(
		c,
		403,
		'This form is not from here',
		'It came from another site, or you have signed in anew since it was opened. Open the page again.',
	);

export const readForm = async (c: Context<Env>): Promise<URLSearchParams> =>
	new URLSearchParams(await c.req.text());

/** Compares hosts, not origins: a proxy in front of the server may terminate TLS. */
function isOwnOrigin(c: Context<Env>): boolean {
	const origin = c.req.header('Origin');
	if (origin === undefined) return true;
	return URL.canParse(origin) && new URL(origin).host === new URL(c.req.url).host;
}
