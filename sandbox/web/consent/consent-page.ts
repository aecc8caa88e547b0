import type { Context } from 'hono';
import { html } from 'hono/html';
import type { AuthorizationRequest } from './authorization-request.ts';
import { accessByRecords } from '../../domain/access/scopes.ts';
import type { Env } from '../../core/service.ts';
import { renderPage } from '../pages/page.ts';
import type { Session } from '../sign-in/session.ts';
import { signOutForm } from '../sign-in/sign-in.ts';

/** Asks the user whether the application may do what it asks for. */
export function consentPage(c: Context<Env>, session: Session, request: AuthorizationRequest) {
	const { client, redirectUri } = request;
	const { pathname, search } = new URL(c.req.url);
	const here = pathname + search;
	return renderPage(c, {
		title: `Allow ${client.name}`,
		// Browsers apply form-action to the redirect of the response as well.
		formTargets: [formTarget(new URL(redirectUri))],
		body: html`
			<form class="card" method="post" action="${here}">
				<h1>${client.name} wants to use your CRM Platform account</h1>
				<p>It asks for your permission to:</p>
				<ul class="scopes">
					${[...accessByRecords(request.scopes)].map(
						([records, access]) => html`<li>${records}: ${access.join(' and ')}</li>`,
					)}
				</ul>
				<p><small>Write access means creating, changing and deleting records. The application
					sees only the records that you can see, and does nothing that you cannot do.</small></p>
				<div class="decision">
					<p class="row">
						<button class="main" name="decision" value="allow">Allow</button>
						<button name="decision" value="deny">Deny</button>
					</p>
					<small>You will return to <strong>${new URL(redirectUri).host}</strong>.</small>
				</div>
			</form>
			<div class="row quiet">
				<p>Signed in as ${session.member.email}.</p>
				${signOutForm(here)}
			</div>
		`,
	});
}

/** A CSP cannot express IPv6 addresses, so for them only the scheme is named. */
const formTarget = ({ protocol, hostname, origin }: URL): string => (hostname.startsWith('[') ? protocol : origin);
