import type { Context } from 'hono';
import { html } from 'hono/html';
import type { AuthorizationRequest } from '../oauth/authorization-request.ts';
import { scopes } from '../oauth/scopes.ts';
import type { Env } from '../service.ts';
import { renderPage } from './page.ts';
import { csrfToken, type Session } from './session.ts';
import { signOutForm } from './sign-in.ts';

/** Asks the user whether the application may do what it asks for. */
export function consentPage(c: Context<Env>, session: Session, request: AuthorizationRequest) {
	const { client, redirectUri } = request;
	const { pathname, search } = new URL(c.req.url);
	const here = pathname + search;
	return renderPage(c, {
		title: `Allow ${client.name}`,
		// Browsers apply this to where the answer is redirected to as well.
		formTargets: [formTarget(new URL(redirectUri))],
		body: html`
			<form class="card" method="post" action="${here}">
				<h1>${client.name} wants to use your CRM Platform account</h1>
				<p>It asks for your permission to:</p>
				<ul class="scopes">
					${request.scopes.map((scope) => html`<li>${scopes.get(scope)}</li>`)}
				</ul>
				<p>It will see only the records that you can see, and do nothing that you cannot do.</p>
				<input type="hidden" name="csrf" value="${csrfToken(session)}" />
				<p class="row">
					<button class="main" name="decision" value="allow">Allow</button>
					<button name="decision" value="deny">Deny</button>
				</p>
				<small>You then go back to <strong>${new URL(redirectUri).host}</strong>.</small>
			</form>
			<div class="row quiet">
				<p>Signed in as ${session.member.email}.</p>
				${signOutForm(session, here)}
			</div>
		`,
	});
}

/** A CSP knows no IPv6 addresses, so for them only the scheme is named. */
const formTarget = ({ protocol, hostname, origin }: URL): string =>
	hostname.startsWith('[') ? protocol : origin;
