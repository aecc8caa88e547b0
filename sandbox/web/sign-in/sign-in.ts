import type { Context } from 'hono';
import { html } from 'hono/html';
import { users } from '../../core/schemas/users.ts';
import type { Route } from '../../api/http/route.ts';
import { demoMembers } from '../../seed/demo-members.ts';
import type { Env, Service } from '../../core/service.ts';
import { formMiddleware, readForm } from '../pages/forms.ts';
import { alert, renderPage } from '../pages/page.ts';
import { closeSession, openSession, sessionOf } from './session.ts';

const path = '/sign-in';

/** The address of the sign-in page, which redirects to `returnTo` afterwards. */
export const signInUrl = (returnTo: string): string => `${path}?return_to=${encodeURIComponent(returnTo)}`;

export function signInRoutes(service: Service): Route[] {
	const signIn: Route['handler'] = async (c) => {
		const form = await readForm(c);
		const email = form.get('email') ?? '';
		const returnTo = returnPath(form.get('return_to'));
		const member = service.store.members.verify(email, form.get('password') ?? '');
		if (!member) return signInPage(c, returnTo, email, 'The email address or the password is wrong.');
		openSession(service, c, member.id);
		noteSignIn(service, member.id);
		return c.redirect(returnTo, 303);
	};

	const signOut: Route['handler'] = async (c) => {
		const form = await readForm(c);
		const session = sessionOf(service, c);
		if (session) closeSession(service, c, session);
		return c.redirect(signInUrl(returnPath(form.get('return_to'))), 303);
	};

	return [
		{ method: 'GET', path, handler: (c) => signInPage(c, returnPath(c.req.query('return_to') ?? null), '') },
		{ method: 'POST', path, handler: signIn, middleware: formMiddleware },
		{ method: 'POST', path: '/sign-out', handler: signOut, middleware: formMiddleware },
	];
}

function noteSignIn({ store, now }: Service, userId: string): void {
	const table = store.table(users.name)!;
	table.save({ ...table.find(userId)!, last_seen_at: new Date(now()).toISOString() });
}

export const signOutForm = (returnTo: string) => html`
	<form method="post" action="/sign-out">
		<input type="hidden" name="return_to" value="${returnTo}" />
		<button class="link">Sign out</button>
	</form>
`;

/** The page of this site to return to, encoded for a header: sign-in must not be an open redirect. */
function returnPath(requested: string | null): string {
	const base = 'http://localhost';
	const url = URL.parse(requested ?? '/', base);
	// The resolved path is used, because `/records/../..//host` leads to another host.
	const address = url?.origin === base ? url.pathname + url.search : '/';
	return address.startsWith('//') ? '/' : address;
}

const signInPage = (c: Context<Env>, returnTo: string, email: string, error?: string) =>
	renderPage(c, {
		title: 'Sign in',
		status: error === undefined ? 200 : 422,
		body: html`
			${alert(error)}
			<form class="card" method="post" action="${path}">
				<h1>Sign in</h1>
				<p class="quiet">with your CRM Platform account.</p>
				<input type="hidden" name="return_to" value="${returnTo}" />
				<label for="email">Email</label>
				<input id="email" name="email" type="email" autocomplete="username" required
					autofocus value="${email}" />
				<label for="password">Password</label>
				<input id="password" name="password" type="password" autocomplete="current-password"
					required />
				<button class="main">Sign in</button>
			</form>
			<p class="quiet">This is a sandbox with these users:</p>
			<ul class="quiet things">
				${demoMembers.map(
					({ email, role, password }) =>
						html`<li>${email} (${role})<br />password <code>${password}</code></li>`,
				)}
			</ul>
		`,
	});
