import { type Context, Hono } from 'hono';
import { accountOf } from './account.ts';
import { Clock } from './clock.ts';
import { customObjectRoutes } from './collection/custom-objects.ts';
import { queryOf } from './collection/query.ts';
import { collectionRoutes } from './collection/routes.ts';
import { controlRoutes } from './control.ts';
import { withoutVersion } from './deprecation.ts';
import { eventRoutes } from './events/routes.ts';
import { Faults } from './faults.ts';
import { idMaker } from './ids.ts';
import { jobRoutes } from './jobs/routes.ts';
import { meRoute } from './me.ts';
import { authenticated, authorized, identify } from './middleware/authentication.ts';
import { injectFaults } from './middleware/faults.ts';
import { oneAtATime } from './middleware/idempotency.ts';
import { RateLimiter, rateLimit, rateLimitHeaders } from './middleware/rate-limit.ts';
import { logRequests, RequestLog } from './middleware/request-log.ts';
import { OAuthError, oauthErrorOf } from './oauth/error.ts';
import { oauthRoutes } from './oauth/routes.ts';
import { usualLifetimes } from './oauth/tokens.ts';
import { openApiText } from './openapi/document.ts';
import { docsPath } from './pages/docs-path.ts';
import { docsRoutes, findScript } from './pages/docs.ts';
import { ownHosts } from './pages/hosts.ts';
import { settingsRoutes } from './pages/settings-routes.ts';
import { signInRoutes } from './pages/sign-in.ts';
import { type Plan, plans } from './plans.ts';
import { Problem } from './problem.ts';
import { mount, type Route } from './router.ts';
import { contacts } from './schemas/contacts.ts';
import { resources } from './schemas/index.ts';
import type { Env, Service, TokenLifetimes } from './service.ts';
import type { Store } from './store/store.ts';
import { Dispatcher } from './webhooks/dispatcher.ts';
import { webhookRoutes } from './webhooks/routes.ts';

export interface AppOptions {
	store: Store;
	/** Starter if none is given. */
	plan?: Plan;
	/** Instead of what the plan allows. */
	requestsPerMinute?: number;
	/** Whether webhooks may be sent to this machine and its network. */
	allowPrivateWebhooks?: boolean;
	/** Whether tests may ask for faults, move the clock and read the log of requests under `/_sandbox`. */
	faults?: boolean;
	/** Names by which its pages may be opened, beside addresses and localhost. */
	hostNames?: string[];
	/** An hour, and ten minutes for a replaced refresh token, if not said otherwise. */
	tokenLifetimes?: Partial<TokenLifetimes>;
	/** Milliseconds since 1970. */
	now?: () => number;
}

/** The service, as a value: serve it, or call its `request()` in process. */
export function createApp(options: AppOptions): Hono<Env> {
	const plan = options.plan ?? 'starter';
	const clock = new Clock(options.now ?? Date.now);
	const service: Service = {
		store: options.store,
		plan,
		requestsPerMinute: options.requestsPerMinute ?? plans[plan],
		tokenLifetimes: { ...usualLifetimes, ...options.tokenLifetimes },
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
	});
	if (options.faults) app.use(logRequests(service, log));
	app.use(rateLimitHeaders(service, limiter), identify(service));
	app.use(async (c, next) => {
		if (c.env?.refusal) throw c.env.refusal;
		await next();
	});
	for (const path of ['/v1/*', '/contacts']) {
		app.use(path, rateLimit(service, limiter), authenticated, authorized);
	}
	for (const path of pagePaths) app.use(path, ownHosts(options.hostNames ?? []));
	// No one has to be known here, so here guessing is what has to be slowed down. The endpoints of
	// OAuth count by client, once they know which one it is.
	app.use('/sign-in', rateLimit(service, limiter, 'sign-in'));
	// Only of those who are known: a stranger must not keep a key busy.
	app.use('/v1/*', oneAtATime());
	if (options.faults) app.use(injectFaults(faults));

	mount(app, serviceRoutes(service, limiter, dispatcher), service.now);
	if (options.faults) mount(app, controlRoutes(faults, log, clock), service.now);

	app.notFound((c) => {
		const problem = new Problem('not_found', `There is nothing at ${c.req.path}.`);
		return problem.response(c.get('requestId'));
	});
	app.onError((error, c) => {
		if (error instanceof OAuthError) return error.response();
		const problem = problemOf(error, options.store);
		const isOAuth = c.req.path.startsWith('/oauth/');
		return isOAuth ? oauthErrorOf(problem).response() : problem.response(c.get('requestId'));
	});
	return app;
}

function problemOf(error: Error, store: Store): Problem {
	if (error instanceof Problem) return error;
	if (!store.isOpen) return new Problem('unavailable', 'The service is shutting down.');
	console.error(error);
	return new Problem('internal_error', 'This is a fault of the service. Try again.');
}

/** What browsers open, and what takes no credentials. */
const pagePaths = ['/sign-in', '/sign-out', '/settings/*', '/docs/*', '/oauth/authorize', '/_sandbox/*'];

const openApi = (c: Context<Env>) =>
	c.body(openApiText(), 200, { 'Content-Type': 'application/json' });

function serviceRoutes(
	service: Service,
	limiter: RateLimiter,
	dispatcher: Dispatcher,
): Route[] {
	const collections = resources.flatMap((resource) => collectionRoutes(service, resource));
	const isContactList = ({ method, path }: Route) =>
		method === 'GET' && path === `/v1/${contacts.name}`;
	return [
		// Before the collections, so that `me` is not taken for an id.
		meRoute(),
		...collections,
		...jobRoutes(service),
		...webhookRoutes(service, dispatcher),
		...eventRoutes(service),
		...customObjectRoutes(service),
		// The source names the path without prefix too; it answers as the one with it.
		...collections
			.filter(isContactList)
			.map((route) => ({ ...route, path: '/contacts', deprecation: withoutVersion })),
		{
			method: 'GET',
			path: '/v1/account',
			handler(c) {
				queryOf(c, []);
				return c.json(accountOf(service));
			},
		},
		...oauthRoutes(service, limiter),
		...signInRoutes(service),
		...settingsRoutes(service),
		...docsRoutes(findScript()),
		{ method: 'GET', path: '/openapi.json', handler: openApi },
		{ method: 'GET', path: '/', handler: (c) => c.json(welcome) },
	];
}

const welcome = {
	name: 'CRM Platform API, sandbox',
	about: 'The service as its contract describes it, with made-up data.',
	documentation: docsPath,
	description: '/openapi.json',
	settings: '/settings/api',
	first_call: 'GET /v1/contacts with the header Authorization: Bearer <API_KEY>',
};
