import type { Context } from 'hono';
import { html } from 'hono/html';
import { grantableScopes, scopeOf } from '../../domain/access/scopes.ts';
import { memberNamed } from '../../core/foundation/json.ts';
import { Problem } from '../../core/foundation/problem.ts';
import type { Route } from '../../api/http/route.ts';
import type { Env, Service } from '../../core/service.ts';
import { navigation } from '../sign-in/navigation.ts';
import { type Html, renderPage } from '../pages/page.ts';
import { type Session, sessionOf } from '../sign-in/session.ts';
import { signInUrl } from '../sign-in/sign-in.ts';
import { applyDueTransitions } from '../../domain/records/due-transitions.ts';
import { jobs } from '../../core/schemas/jobs.ts';
import type { Resource } from '../../core/schemas/resource.ts';
import { webhooks } from '../../core/schemas/webhooks.ts';
import { type StoreView, storeVisibleTo } from '../../core/store/visibility/visible-store.ts';
import type { WriteContext } from '../../core/store/write-context.ts';

/** A signed-in user, with the records and events that the API would show them. */
export interface Visitor {
	session: Session;
	store: StoreView;
	/** Shows a page with the navigation beside it. */
	show(title: string, body: Html, status?: Parameters<typeof renderPage>[1]['status']): Response | Promise<Response>;
}

/** Handles requests of signed-in users; sends others to sign in, and shows refusals as pages. */
export const forVisitors =
	(service: Service, handler: (c: Context<Env>, visitor: Visitor) => Response | Promise<Response>): Route['handler'] =>
	async (c) => {
		const { pathname, search } = new URL(c.req.url);
		const session = sessionOf(service, c);
		if (!session) {
			return c.redirect(signInUrl(c.req.method === 'GET' ? pathname + search : '/'), 303);
		}
		applyDueTransitions(service);
		const show: Visitor['show'] = (title, body, status = 200) =>
			renderPage(c, { title, body, status, navigation: navigation(service, session, pathname) });
		const store = storeVisibleTo(service.store, { type: 'user', id: session.member.id }, undefined);
		try {
			return await handler(c, { session, store, show });
		} catch (error) {
			if (!(error instanceof Problem)) throw error;
			const title = String(error.body(c.get('requestId'))['title']);
			const body = html`<section class="card"><h1>${title}</h1><p>${error.message}</p></section>`;
			return show(title, body, error.status as 404);
		}
	};

/**
 * The resource that a path names.
 *
 * @throws Problem not_found
 */
export function resourceIn(c: Context<Env>, { store }: Visitor): Resource {
	const name = c.req.param('resource')!.replaceAll('.', '/');
	const table = store.table(name);
	if (table) return table.resource;
	throw new Problem('not_found', `There is no record type called ${name}.`);
}

export type WriteVerb = 'create' | 'change' | 'delete';

/** Writes that only the API allows: a webhook that is reactivated also needs its missed events, and a job its lines. */
const onlyThroughApi: Record<string, WriteVerb[]> = { [webhooks.name]: ['change'], [jobs.name]: ['create', 'change', 'delete'] };

/** Whether the visitor may do this with these records in the console. A role permits the same as with a token. */
export const may = ({ session }: Pick<Visitor, 'session'>, verb: WriteVerb, { name }: Resource): boolean =>
	!(memberNamed(onlyThroughApi, name) ?? []).includes(verb) &&
	grantableScopes(session.member.role, [scopeOf(name, 'write')]).length > 0;

/** @throws Problem insufficient_scope if the visitor may not write these records */
export function writeContextOf(service: Service, c: Context<Env>, visitor: Visitor, resource: Resource, verb: WriteVerb): WriteContext {
	const { session, store } = visitor;
	if (!may(visitor, verb, resource)) throw new Problem('insufficient_scope', `You cannot change ${resource.name} here.`);
	const { newId, now } = service;
	const actor = { type: 'user', id: session.member.id };
	return { newId, resource, store, actor, request: { id: c.get('requestId'), idempotency_key: null }, now: now() };
}
