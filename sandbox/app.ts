import { type Context, Hono } from 'hono';
import { createMiddleware } from 'hono/factory';
import { isIP } from 'node:net';
import { apiRoutes } from './api-routes.ts';
import { Clock } from './core/foundation/clock.ts';
import { controlRoutes } from './control/control-routes.ts';
import { Faults, injectFaults } from './control/faults.ts';
import { idMaker } from './core/foundation/ids.ts';
import { requireCredentials, requireScopeOfRoute, identifyCaller } from './domain/access/authentication.ts';
import { refuseConcurrentKeys } from './api/http/idempotency.ts';
import { rateLimit, RateLimiter, rateLimitHeaders } from './api/http/rate-limit.ts';
import { logRequests, RequestLog } from './control/request-log.ts';
import { OAuthError, oauthErrorOf } from './api/oauth/oauth-error.ts';
import { oauthPaths } from './api/oauth/server-metadata.ts';
import { defaultLifetimes } from './api/oauth/token-exchange.ts';
import { consoleRoutes } from './web/console/console-routes.ts';
import { docsRoutes } from './web/docs/docs.ts';
import { iconRoutes, refusalPage } from './web/pages/page.ts';
import { settingsRoutes } from './web/settings/settings-routes.ts';
import { signInRoutes } from './web/sign-in/sign-in.ts';
import { type Plan, plans } from './core/schemas/account.ts';
import { Problem } from './core/foundation/problem.ts';
import { mount } from './api/http/route.ts';
import type { Env, Service, TokenLifetimes } from './core/service.ts';
import type { Store } from './core/store/store.ts';
import { Dispatcher } from './api/webhooks/dispatcher.ts';

export interface AppOptions {
	store: Store;
	/** The plan of the account; `starter` by default. */
	plan?: Plan;
	/** Overrides the limit of the plan. */
	requestsPerMinute?: number;
	/** Whether webhooks may be delivered to this machine and its network. */
	allowPrivateWebhooks?: boolean;
	/** Whether tests can inject faults, advance the clock and read the request log under `/_sandbox`. */
	faults?: boolean;
	/** Lifetimes of tokens: by default an hour, and ten minutes for a replaced refresh token. */
	tokenLifetimes?: Partial<TokenLifetimes>;
	/** Returns milliseconds since 1970. */
	now?: () => number;
}

/** Creates the service as a value: serve it, or call its `request()` in process. */
export function createApp(options: AppOptions): Hono<Env> {
	const plan = options.plan ?? 'starter';
	const clock = new Clock(options.now ?? Date.now);
	const service: Service = {
		store: options.store,
		plan,
		requestsPerMinute: options.requestsPerMinute ?? plans[plan],
		tokenLifetimes: { ...defaultLifetimes, ...options.tokenLifetimes },
		now: clock.now,
		newId: idMaker(),
	};
	const limiter = new RateLimiter(service.requestsPerMinute);
	const faults = new Faults();
	const log = new RequestLog();
	const dispatcher = new Dispatcher(service, options.allowPrivateWebhooks ?? false);
	clock.onAdvance(() => dispatcher.wake());
	const app = new Hono<Env>();

	app.use(async (c, next) => {
		c.set('requestId', service.newId('req', service.now()));
		await next();
		c.res.headers.set('X-Request-Id', c.get('requestId'));
		if (!c.res.headers.has('Date')) c.res.headers.set('Date', new Date(service.now()).toUTCString());
	});
	if (options.faults) app.use(logRequests(service, log));
	app.use(rateLimitHeaders(service, limiter), identifyCaller(service));
	for (const path of ['/v1/*', '/contacts']) {
		app.use(path, rateLimit(service, limiter), requireCredentials, requireScopeOfRoute);
	}
	for (const path of [oauthPaths.token, oauthPaths.revoke]) app.use(path, rateLimit(service, limiter));
	for (const path of pagePaths) app.use(path, refuseForeignHosts);
	// After authentication, so that a stranger cannot block a key.
	app.use('/v1/*', refuseConcurrentKeys());
	if (options.faults) app.use(injectFaults(faults));

	mount(app, [
		...apiRoutes(service, dispatcher),
		...signInRoutes(service),
		...settingsRoutes(service),
		...docsRoutes(service),
		...iconRoutes(),
		...consoleRoutes(service),
	]);
	if (options.faults) mount(app, controlRoutes(faults, log, clock));

	app.notFound((c) => refuse(c, new Problem('not_found', `There is nothing at ${c.req.path}.`)));
	app.onError((error, c) => {
		if (error instanceof OAuthError) return error.response();
		const problem = asProblem(error, options.store);
		const isOAuth = c.req.path.startsWith('/oauth/') && !isForPeople(c);
		return isOAuth ? oauthErrorOf(problem).response() : refuse(c, problem);
	});
	return app;
}

/** Responds to a refused request: people get a page, programs and all callers of the API get JSON. */
function refuse(c: Context<Env>, problem: Problem): Response | Promise<Response> {
	const requestId = c.get('requestId');
	if (!isForPeople(c)) return problem.response(requestId);
	const { headers, status } = problem;
	for (const [name, value] of Object.entries(headers)) c.header(name, value);
	return refusalPage(c, status as 404, String(problem.body(requestId)['title']), problem.message);
}

/** Whether a browser shows the response to a person. The API always responds with JSON. */
function isForPeople(c: Context<Env>): boolean {
	const forPrograms = /^\/(v1|contacts$|openapi\.json$|_sandbox|\.well-known|oauth\/(token|revoke))/;
	return !forPrograms.test(c.req.path) && Boolean(c.req.header('Accept')?.includes('text/html'));
}

function asProblem(error: Error, store: Store): Problem {
	if (error instanceof Problem) return error;
	if (!store.isOpen) return new Problem('unavailable', 'The service is shutting down.');
	console.error(error);
	return new Problem('internal_error', 'The service failed. Try again.');
}

/**
 * Refuses requests whose Host is not this machine. A web page elsewhere can make its own name resolve to it (DNS
 * rebinding), and browsers would then treat it as this service. IP addresses and localhost do not depend on DNS.
 */
const refuseForeignHosts = createMiddleware<Env>(async (c, next) => {
	const { hostname } = new URL(c.req.url);
	if (isIP(hostname.replace(/^\[|\]$/g, '')) !== 0 || /(^|\.)localhost$/.test(hostname)) return next();
	return refusalPage(c, 403, 'Unknown host name', `This service does not answer to ${hostname}. Open it at localhost.`);
});

/** Pages for browsers, and paths that need no credentials. */
const pagePaths = [
	'/',
	'/records/*',
	'/events',
	'/settings/*',
	'/docs/*',
	'/sign-in',
	'/sign-out',
	oauthPaths.authorize,
	oauthPaths.metadata,
	'/_sandbox/*',
];
