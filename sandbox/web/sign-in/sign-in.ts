import type { Context } from 'hono';
import { html } from 'hono/html';
import { users } from '../../core/schemas/users.ts';
import { addressOf, RateLimiter } from '../../api/http/rate-limit.ts';
import { isPassword, nobodysPassword } from './password.ts';
import type { Route } from '../../api/http/route.ts';
import { demoMembers } from '../../seed/demo-members.ts';
import type { Env, Service } from '../../core/service.ts';
import { refuseForeignForm, readForm, smallFormMiddleware } from '../pages/forms.ts';
import { alert, renderPage } from '../pages/page.ts';
import { closeSession, csrfToken, hasCsrfToken, openSession, type Session, sessionOf } from './session.ts';

const path = '/sign-in';
/** The pages to which sign-in redirects. */
const returnPaths = /^\/((records|events|docs|settings\/api|oauth\/authorize)(\/[\w./-]*)?)?(\?.*)?$/;
/** Limit of attempts per client address. */
const triesPerMinute = 100;

/** The address of the sign-in page, which redirects to `returnTo` afterwards. */
export const signInUrl = (returnTo: string): string => `${path}?return_to=${encodeURIComponent(returnTo)}`;

export function signInRoutes(service: Service): Route[] {
	const tries = new RateLimiter(triesPerMinute);

	/**
	 * Takes as long for an unknown email address as for a wrong password, so it does not reveal who
	 * has an account.
	 */
	const verified = async (email: string, password: string) => {
		const found = service.store.members.findByEmail(email);
		const isRight = await isPassword(password, found?.passwordHash ?? nobodysPassword);
		return isRight ? found?.member : undefined;
	};

	const signIn: Route['handler'] = async (c) => {
		const form = await readForm(c);
		const email = form.get('email') ?? '';
		const returnTo = returnPath(form.get('return_to'));
		if (!tries.count(addressOf(c), service.now())) {
			return signInPage(c, returnTo, email, 429, 'Too many attempts. Wait a minute and try again.');
		}
		const member = await verified(email, form.get('password') ?? '');
		if (!member) {
			return signInPage(c, returnTo, email, 422, 'The email address or the password is wrong.');
		}
		openSession(service, c, member.id);
		noteSignIn(service, member.id);
		return c.redirect(returnTo, 303);
	};

	const signOut: Route['handler'] = async (c) => {
		const form = await readForm(c);
		const session = sessionOf(service, c);
		if (session && !hasCsrfToken(session, form)) return refuseForeignForm(c);
		if (session) closeSession(service, c, session);
		return c.redirect(signInUrl(returnPath(form.get('return_to'))), 303);
	};

	return [
		{ method: 'GET', path, handler: (c) => signInPage(c, returnPath(c.req.query('return_to') ?? null), '') },
		{ method: 'POST', path, handler: signIn, middleware: smallFormMiddleware },
		{ method: 'POST', path: '/sign-out', handler: signOut, middleware: smallFormMiddleware },
	];
}

function noteSignIn({ store, now }: Service, userId: string): void {
	const table = store.table(users.name)!;
	table.save({ ...table.find(userId)!, last_seen_at: new Date(now()).toISOString() });
}

export const signOutForm = (session: Session, returnTo: string) => html`
	<form method="post" action="/sign-out">
		<input type="hidden" name="csrf" value="${csrfToken(session)}" />
		<input type="hidden" name="return_to" value="${returnTo}" />
		<button class="link">Sign out</button>
	</form>
`;

/** The page to return to, encoded for a header. Only known pages are accepted: sign-in must not be an open redirect. */
function returnPath(requested: string | null): string {
	const base = 'http://localhost';
	const url = URL.parse(requested ?? '/', base);
	// The resolved path is used, because `/records/../..//host` leads to another host.
	const address = url?.origin === base ? url.pathname + url.search : '/';
	return returnPaths.test(address) ? address : '/';
}

const signInPage = (c: Context<Env>, returnTo: string, email: string, status: 200 | 422 | 429 = 200, error?: string) =>
	renderPage(c, {
		title: 'Sign in',
		status,
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
