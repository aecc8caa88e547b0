import type { Context } from 'hono';
import { consentPage } from '../pages/consent.ts';
import { foreignForm, formMiddleware, readForm } from '../pages/forms.ts';
import { refusalPage } from '../pages/page.ts';
import { hasCsrfToken, type Session, sessionOf } from '../pages/session.ts';
import { signInAddress } from '../pages/sign-in.ts';
import type { Route } from '../router.ts';
import type { Env, Service } from '../service.ts';
import {
	answerAddress,
	type AuthorizationRequest,
	parseAuthorizationRequest,
	recipientOf,
} from './authorization-request.ts';
import { issuerOf } from './issuer.ts';
import { parametersOf } from './parameters.ts';
import { grantableScopes } from './scopes.ts';

const codeLastsMs = 60_000;

/** Where a user signs in and says whether a client may act for them. */
export function authorizeRoutes(service: Service): Route[] {
	const { store, now } = service;

	/**
	 * What to do with a request that is in order; for any other the answer is clear. Of the scopes it
	 * asks for, only those are left that this user can allow (RFC 6749, 3.3).
	 */
	const withRequest = (
		c: Context<Env>,
		proceed: (session: Session, request: AuthorizationRequest) => Response | Promise<Response>,
	) => {
		c.header('Cache-Control', 'no-store');
		const url = new URL(c.req.url);
		const parameters = parametersOf(url.searchParams);
		const recipient = recipientOf(store, parameters);
		if (typeof recipient === 'string') {
			return refusalPage(c, 400, 'This application cannot be let in', recipient);
		}
		const request = parseAuthorizationRequest(recipient, parameters);
		if ('error' in request) {
			const answer = { error: request.error, error_description: request.description };
			return c.redirect(answerAddress(recipient, issuerOf(c), answer), 303);
		}
		const session = sessionOf(service, c);
		if (!session) return c.redirect(signInAddress(url.pathname + url.search), 303);
		const scopes = grantableScopes(session.member.role, request.scopes);
		if (scopes.length > 0) return proceed(session, { ...request, scopes });
		const answer = {
			error: 'invalid_scope',
			error_description: `${session.member.email} may allow none of: ${request.scopes.join(', ')}.`,
		};
		return c.redirect(answerAddress(recipient, issuerOf(c), answer), 303);
	};

	const newCode = ({ member }: Session, request: AuthorizationRequest): string =>
		store.transaction(() => {
			const { client, scopes, redirectUri, challenge } = request;
			const id = service.newId('grant', now());
			return store.grants.add(
				{ id, clientId: client.id, userId: member.id, scopes },
				{ redirectUri, challenge, expiresAt: now() + codeLastsMs },
				now(),
			);
		});

	const ask: Route['handler'] = (c) =>
		withRequest(c, (session, request) => consentPage(c, session, request));

	const decide: Route['handler'] = async (c) => {
		const form = await readForm(c);
		return withRequest(c, (session, request) => {
			if (!hasCsrfToken(session, form)) return foreignForm(c);
			const answer: Record<string, string> =
				form.get('decision') === 'allow'
					? { code: newCode(session, request) }
					: { error: 'access_denied', error_description: 'The user has not allowed this.' };
			return c.redirect(answerAddress(request, issuerOf(c), answer), 303);
		});
	};

	return [
		{ method: 'GET', path: '/oauth/authorize', handler: ask },
		{ method: 'POST', path: '/oauth/authorize', handler: decide, middleware: formMiddleware },
	];
}
