import { createHash, randomUUID } from 'node:crypto';
import type { Context } from 'hono';
import { html } from 'hono/html';
import { runOnce } from '../../api/http/idempotency.ts';
import type { Env, Service } from '../../core/service.ts';
import { readForm, refuseForeignForm } from '../pages/forms.ts';
import type { Html } from '../pages/page.ts';
import { csrfToken, hasCsrfToken, type Session } from './session.ts';

/** The hidden inputs of every form of a signed-in user: the session's token and the id of the form. */
export const formInputs = (session: Session): Html =>
	html`<input type="hidden" name="csrf" value="${csrfToken(session)}" />
		<input type="hidden" name="form" value="${randomUUID()}" />`;

/**
 * Handles a form of a signed-in user, unless it was handled before: a double click, or a form sent again
 * after a broken connection, redirects to the same page as the first one.
 *
 * @param handle calls `doOnce` to change something
 */
export async function handleForm(
	service: Service,
	c: Context<Env>,
	session: Session,
	handle: (form: URLSearchParams, doOnce: DoOnce) => Response | Promise<Response>,
): Promise<Response> {
	const form = await readForm(c);
	if (!hasCsrfToken(session, form)) return refuseForeignForm(c);
	const key = form.has('form') ? await keyOf(c, session) : undefined;
	const earlier = key === undefined ? undefined : service.store.responses.find(key, service.now());
	if (earlier) return c.redirect(earlier.response.headers['Location']!, 303);
	return await handle(form, (perform) => {
		const response = runOnce(service, { key, fingerprint: key ?? '' }, () => {
			return { status: 303, headers: { Location: perform() }, body: null };
		});
		return c.redirect(response.headers['Location']!, 303);
	});
}

/**
 * Performs the change of a form once and in one transaction.
 *
 * @param perform makes the change, and returns where to redirect
 */
type DoOnce = (perform: () => string) => Response;

/** The key of a form. It includes the texts, so that a form that was changed after going back counts as new. */
async function keyOf(c: Context<Env>, { member }: Session): Promise<string> {
	const submitted = `${member.id} ${c.req.path}\n${await c.req.text()}`;
	return `form ${createHash('sha256').update(submitted).digest('base64url')}`;
}
