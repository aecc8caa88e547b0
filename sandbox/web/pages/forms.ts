import { bodyLimit } from 'hono/body-limit';
import { every } from 'hono/combine';
import { createMiddleware } from 'hono/factory';
import type { Context } from 'hono';
import { inTurns } from '../../core/foundation/background.ts';
import type { Env } from '../../core/service.ts';
import { FormTexts } from './form-texts.ts';
import { refusalPage } from './page.ts';

const limitForm = (maxSize: number) =>
	bodyLimit({
		maxSize,
		onError(c) {
			// The rest of the form is not read, so the connection cannot be reused.
			c.header('Connection', 'close');
			return refusalPage(c, 422, 'Too long', 'This form contains too much text.');
		},
	});

/** Four times the longest text of a record. */
const maxFormSize = 1024 * 1024;

/** The limit of forms that need no session. */
const maxSmallFormSize = 16 * 1024;

/** Maximum number of inputs of a form: twice those of a record with 500 custom fields and full lists. */
const maxInputs = 2000;

const limitInputs = createMiddleware<Env>(async (c, next) => {
	const count = (await c.req.text()).split('&', maxInputs + 1).length;
	if (count <= maxInputs) return next();
	return refusalPage(c, 422, 'Too long', `A form may have at most ${maxInputs} inputs.`);
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
export const formMiddleware = every(limitForm(maxFormSize), limitInputs, ownForms);

/** The middleware of forms that need no session. */
export const smallFormMiddleware = every(limitForm(maxSmallFormSize), limitInputs, ownForms);

export const refuseForeignForm = (c: Context<Env>) =>
	refusalPage(
		c,
		403,
		'This form was not sent from this site',
		'It came from another site, or you have signed in again since opening the page. Reload the page.',
	);

/** Number of inputs that are read before yielding. */
const inputsAtOnce = 50;

/** Reads a form in pieces, so that other requests do not wait for all of a large one. */
export async function readForm(c: Context<Env>): Promise<FormTexts> {
	const form = new FormTexts();
	const inputs = (await c.req.text()).split('&');
	const starts = Array.from({ length: Math.ceil(inputs.length / inputsAtOnce) }, (_, i) => i * inputsAtOnce);
	await inTurns(starts, (start) => form.add(new URLSearchParams(inputs.slice(start, start + inputsAtOnce).join('&'))));
	return form;
}

/** Whether the form is from this site. Hosts are compared, not origins, because a proxy may terminate TLS. */
function isOwnOrigin(c: Context<Env>): boolean {
	const origin = c.req.header('Origin');
	if (origin === undefined) return true;
	return URL.canParse(origin) && new URL(origin).host === new URL(c.req.url).host;
}
