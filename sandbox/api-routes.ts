import { accountRoutes } from './account/routes.ts';
import { collectionRoutes, readEndpoints } from './collection/routes.ts';
import { homeHandler } from './console/routes.ts';
import { endpoint } from './description/endpoint.ts';
import { noContent } from './description/responses.ts';
import { eventRoutes } from './event-log/routes.ts';
import { docsPath } from './http/docs-path.ts';
import type { RateLimiter } from './http/rate-limiter.ts';
import type { ApiRoute } from './http/route.ts';
import type { Service } from './http/service.ts';
import { jobRoutes } from './jobs/routes.ts';
import { oauthRoutes } from './oauth/routes.ts';
import { openApiDocument } from './openapi/document.ts';
import { contacts } from './schemas/contacts.ts';
import type { Dispatcher } from './webhooks/dispatcher.ts';
import { webhookRoutes } from './webhooks/routes.ts';

/** Every route of the API, in the order of the OpenAPI document. */
export function apiRoutes(
	service: Service,
	limiter: RateLimiter,
	dispatcher: Dispatcher,
): ApiRoute[] {
	const routes: ApiRoute[] = [
		...collectionRoutes(service),
		...jobRoutes(service),
		...webhookRoutes(service, dispatcher),
		...eventRoutes(service),
		...accountRoutes(service),
		...oauthRoutes(service, limiter),
		contactsWithoutVersion(service),
		discovery('/', 'getWelcome', 'Get the entry point', 'Where to continue.', welcomeHandler(service)),
		discovery(
			'/openapi.json',
			'getDescription',
			'Get the OpenAPI document',
			'The OpenAPI 3.1 document of the service.',
			(c) => c.body(openApiText(routes), 200, { 'Content-Type': 'application/json' }),
		),
	];
	return routes;
}

/** The source document names the path without the version as well, to verify credentials with. The documentation does not show it. */
function contactsWithoutVersion(service: Service): ApiRoute {
	const { list } = readEndpoints(service, contacts);
	return endpoint({
		...list,
		path: '/contacts',
		id: 'verifyCredentials',
		summary: 'List contacts, without the version',
		description: 'Responds like /v1/contacts. Use that instead.',
		members: () => ({ ...list.members?.(), deprecated: true, 'x-scalar-ignore': true }),
	});
}

/** Browsers get a page, programs get JSON. */
function welcomeHandler(service: Service): ApiRoute['handler'] {
	const home = homeHandler(service);
	return (c) => (c.req.header('Accept')?.includes('text/html') ? home(c) : c.json(welcome));
}

const welcome = {
	name: 'CRM Platform API, sandbox',
	about: 'The service as its contract describes it, with sample data.',
	documentation: docsPath,
	description: '/openapi.json',
	console: 'GET / in a browser',
	settings: '/settings/api',
	first_call: 'GET /v1/contacts with the header Authorization: Bearer <API_KEY>',
};

const discovery = (
	path: string,
	id: string,
	summary: string,
	description: string,
	handle: ApiRoute['handler'],
): ApiRoute =>
	endpoint({
		method: 'GET',
		path,
		id,
		tag: 'discovery',
		summary,
		answers: {
			200: {
				...noContent(description),
				content: { 'application/json': { schema: { description, type: 'object' } } },
			},
		},
		security: [],
		handle,
	});

let documentText: string | undefined;

/** The document as JSON, built once: the routes differ between services in their handlers only. */
const openApiText = (routes: ApiRoute[]): string => (documentText ??= JSON.stringify(openApiDocument(routes)));
