import type { Context } from 'hono';
import { type ApiRoute, endpoint } from '../../api/endpoint/endpoint.ts';
import { queryParametersOf } from '../../api/endpoint/parameters.ts';
import { commonHeaders, noContent } from '../../api/endpoint/responses.ts';
import { formMiddleware, readForm } from '../pages/forms.ts';
import { refusalPage, renderPage } from '../pages/page.ts';
import { type Session, sessionOf } from '../sign-in/session.ts';
import { signInUrl, signOutForm } from '../sign-in/sign-in.ts';
import type { Env, Service } from '../../core/service.ts';
import {
	responseUrl,
	type AuthorizationRequest,
	parseAuthorizationRequest,
	type Recipient,
	recipientOf,
} from './authorization-request.ts';
import { issuerOf, oauthPaths } from '../../api/oauth/server-metadata.ts';
import { authorizationQuery, decisionForm } from '../../api/oauth/oauth-forms.ts';
import { parametersOf } from '../../api/oauth/oauth-error.ts';
import { grantableScopes, accessByRecords } from '../../domain/access/scopes.ts';
import { html } from 'hono/html';

const codeLastsMs = 60_000;

const page = (description: string) => ({...noContent(description), content: { 'text/html': { schema: { type: 'string' } } } });

const redirect = (description: string) => ({
	description,
	headers: {...commonHeaders, Location: { description: 'The address of the redirect.', schema: { type: 'string' } } },
});

const refusedRequestPage = page('A page that explains the error in client_id or redirect_uri.');

const authorizeRoute = {
	path: oauthPaths.authorize,
	tag: 'oauth',
	filters: () => queryParametersOf(authorizationQuery),
	security: [],
};

const consentRoute = (service: Service): ApiRoute =>
	endpoint({
		...authorizeRoute,
		method: 'GET',
		id: 'authorize',
		summary: 'Ask a user for permission',
		description:
			'Open it in the browser of the user, who signs in and grants or denies the request. The ' +
			'response is sent to redirect_uri, with code, state and iss, or with error.',
		responses: {
			200: page('The page that asks for consent.'),
			303: redirect('A redirect to the sign-in page, or to redirect_uri with an error.'),
			400: refusedRequestPage,
		},
		handle: (c) => withRequest(service, c, (session, request) => consentPage(c, session, request)),
	});

const decisionRoute = (service: Service): ApiRoute =>
	endpoint({
		...authorizeRoute,
		method: 'POST',
		id: 'decideAuthorization',
		summary: 'Grant or deny a request',
		description: 'The form of the consent page; not for other clients.',
		body: decisionForm,
		middleware: formMiddleware,
		responses: {
			303: redirect('A redirect to redirect_uri, with code, state and iss, or with error.'),
			400: refusedRequestPage,
			403: page('A page that refuses a form from another site.'),
			422: page('A page that refuses a form that is too long.'),
		},
		async handle(c) {
			const form = await readForm(c);
			return withRequest(service, c, (session, request) => {
				const response: Record<string, string> =
					form.get('decision') === 'allow'
						? { code: newCode(service, session, request) }
						: { error: 'access_denied', error_description: 'The user denied the request.' };
				return redirectToClient(c, request, response);
			});
		},
	});

/** The routes where a user grants or denies a client's request. */
export const authorizeRoutes = (service: Service): ApiRoute[] => [consentRoute(service), decisionRoute(service)];

/**
 * Validates a request and passes it on with the session of the user; answers invalid ones. Scopes
 * that this user cannot grant are removed (RFC 6749, 3.3).
 */
function withRequest(
	service: Service,
	c: Context<Env>,
	proceed: (session: Session, request: AuthorizationRequest) => Response | Promise<Response>,
) {
	c.header('Cache-Control', 'no-store');
	const url = new URL(c.req.url);
	const parameters = parametersOf(url.searchParams);
	const recipient = recipientOf(service.store, parameters);
	if (typeof recipient === 'string') {
		return refusalPage(c, 400, 'This application cannot be authorized', recipient);
	}
	const request = parseAuthorizationRequest(recipient, parameters);
	if ('error' in request) {
		return redirectToClient(c, recipient, { error: request.error, error_description: request.description });
	}
	const session = sessionOf(service, c);
	if (!session) return c.redirect(signInUrl(url.pathname + url.search), 303);
	const scopes = grantableScopes(session.member.role, request.scopes);
	if (scopes.length > 0) return proceed(session, { ...request, scopes });
	return redirectToClient(c, recipient, {
		error: 'invalid_scope',
		error_description: `${session.member.email} cannot grant any of: ${request.scopes.join(', ')}.`,
	});
}

const redirectToClient = (c: Context<Env>, recipient: Recipient, response: Record<string, string>): Response =>
	c.redirect(responseUrl(recipient, issuerOf(c), response), 303);

const newCode = ({ store, now, newId }: Service, { member }: Session, request: AuthorizationRequest): string =>
	store.transaction(() => {
		const { client, scopes, redirectUri, challenge } = request;
		const id = newId('grant', now());
		return store.grants.add(
			{ id, clientId: client.id, userId: member.id, scopes },
			{ redirectUri, challenge, expiresAt: now() + codeLastsMs },
			now(),
		);
	});

/** Asks the user whether the application may do what it asks for. */
function consentPage(c: Context<Env>, session: Session, request: AuthorizationRequest) {
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
