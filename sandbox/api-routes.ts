import { accountRoutes } from './api/account-routes.ts';
import { collectionRoutes, readEndpoints } from './api/collection/record-routes.ts';
import { homeHandler } from './web/console/console-routes.ts';
import { type ApiRoute, endpoint } from './api/endpoint/endpoint.ts';
import { noContent } from './api/endpoint/responses.ts';
import { eventRoutes } from './api/event-routes.ts';
import { docsPath } from './api/http/route.ts';
import type { Service } from './core/service.ts';
import { jobRoutes } from './api/jobs/job-routes.ts';
import { authorizeRoutes } from './web/consent/consent-routes.ts';
import { oauthRoutes } from './api/oauth/oauth-routes.ts';
import { openApiDocument } from './api/openapi/document.ts';
import { contacts } from './core/schemas/contacts.ts';
import type { Dispatcher } from './api/webhooks/dispatcher.ts';
import { webhookRoutes } from './api/webhooks/webhook-routes.ts';

/** Every route of the API, in the order of the OpenAPI document. */
export function apiRoutes(service: Service, dispatcher: Dispatcher): ApiRoute[] {
	const routes: ApiRoute[] = [
		...collectionRoutes(service),
		...jobRoutes(service),
		...webhookRoutes(service, dispatcher),
		...eventRoutes(service),
		...accountRoutes(service),
		...authorizeRoutes(service),
		...oauthRoutes(service),
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

/** The contract also names this path without the version, to verify credentials. The documentation does not show it. */
function contactsWithoutVersion(service: Service): ApiRoute {
	const { list } = readEndpoints(service, contacts);
	return endpoint({
		...list,
		path: '/contacts',
		id: 'verifyCredentials',
		summary: 'List contacts, without the version',
		description: 'Responds like /v1/contacts. Use that instead.',
		extensions: () => ({ ...list.extensions?.(), deprecated: true, 'x-scalar-ignore': true }),
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

const discovery = (path: string, id: string, summary: string, description: string, handle: ApiRoute['handler']): ApiRoute =>
	endpoint({
		method: 'GET',
		path,
		id,
		tag: 'discovery',
		summary,
		responses: {
			200: {...noContent(description), content: { 'application/json': { schema: { description, type: 'object' } } } },
		},
		security: [],
		handle,
	});

let documentText: string | undefined;

/** The OpenAPI document as JSON. It is built once, since the routes of two services differ only in their handlers. */
const openApiText = (routes: ApiRoute[]): string => (documentText ??= JSON.stringify(openApiDocument(routes)));
