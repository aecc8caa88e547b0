import type { Context } from 'hono';
import { consentPage } from './consent.ts';
import { refuseForeignForm, formMiddleware, readForm } from '../pages/forms.ts';
import { refusalPage } from '../pages/page.ts';
import { hasCsrfToken, type Session, sessionOf } from '../pages/session.ts';
import { signInAddress } from '../pages/sign-in.ts';
import type { ApiRoute } from '../http/route.ts';
import type { Env, Service } from '../http/service.ts';
import {
	answerAddress,
	type AuthorizationRequest,
	parseAuthorizationRequest,
	recipientOf,
} from './authorization-request.ts';
import { issuerOf } from './issuer.ts';
import { oauthPaths } from './metadata.ts';
import { authorizeOperation, decideOperation } from './operations.ts';
import { parametersOf } from './parameters.ts';
import { grantableScopes } from '../access/scopes.ts';

const codeLastsMs = 60_000;

/** The routes where a user grants or denies a client's request. */
export function authorizeRoutes(service: Service): ApiRoute[] {
	const { store, now } = service;

	/**
	 * Validates a request and passes it on with the session of the user; answers invalid ones. Scopes
	 * that this user cannot grant are removed (RFC 6749, 3.3).
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
			return refusalPage(c, 400, 'This application cannot be authorized', recipient);
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
			error_description: `${session.member.email} can grant none of: ${request.scopes.join(', ')}.`,
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

	const ask: ApiRoute['handler'] = (c) =>
		withRequest(c, (session, request) => consentPage(c, session, request));

	const decide: ApiRoute['handler'] = async (c) => {
		const form = await readForm(c);
		return withRequest(c, (session, request) => {
			if (!hasCsrfToken(session, form)) return refuseForeignForm(c);
			const answer: Record<string, string> =
				form.get('decision') === 'allow'
					? { code: newCode(session, request) }
					: { error: 'access_denied', error_description: 'The user denied the request.' };
			return c.redirect(answerAddress(request, issuerOf(c), answer), 303);
		});
	};

	const path = oauthPaths.authorize;
	return [
		{ method: 'GET', path, handler: ask, operation: authorizeOperation },
		{ method: 'POST', path, handler: decide, middleware: formMiddleware, operation: decideOperation },
	];
}
