import type { ApiRoute } from '../endpoint/endpoint.ts';
import { anyRecords } from '../../core/schemas/custom-objects.ts';
import { resources } from '../../core/schemas/index.ts';
import { jobs } from '../../core/schemas/jobs.ts';
import { type JsonSchema, namedSchemas, componentRef } from '../../core/schemas/json-schema.ts';
import { capital, namesOf } from '../../core/schemas/names.ts';
import { webhooks } from '../../core/schemas/webhooks.ts';
import { eventSchemas } from './event-schemas.ts';
import { eventWebhooks } from './event-webhooks.ts';
import { introduction } from './introduction.ts';
import { pathsOf } from './paths.ts';
import { errorResponses, oauthErrorResponses } from './error-responses.ts';
import { resourceSchemas, pageSchema } from './resource-schemas.ts';
import { administrativeScopes, scopes, defaultScopes } from '../../domain/access/scopes.ts';
import { oauthPaths } from '../oauth/server-metadata.ts';
import { exampleValue } from '../endpoint/input-schema.ts';

/** The security scheme of access tokens. */
const oauth2Scheme = {
	type: 'oauth2',
	description:
		'A token acts for the user who granted it, with the rights that the user has now. ' +
		'Administrators see all records. Other users see records that they own or that have no ' +
		'owner (for notes: no author), the messages of contacts, tickets and deals that they see, the ' +
		'messages that they wrote or received, and their own jobs and webhooks; other records are ' +
		`not found. Only administrators can grant ${administrativeScopes.join(', ')}, and viewers ` +
		'only scopes to read; scopes that a user cannot grant are removed. With a scope to write but ' +
		'not to read, responses contain only the id and version of a record. Deactivating a user ' +
		'revokes their tokens and pauses their webhooks; revoking a refresh token deletes the ' +
		'webhooks created with its grant. PKCE with S256 is mandatory. Access tokens are valid for an ' +
		'hour. Using a refresh token replaces it; for 10 more minutes it stays valid and returns the ' +
		`same successor. The default scopes are ${defaultScopes.join(' ')}. The metadata at ` +
		`${oauthPaths.metadata} lists everything else.`,
	flows: {
		authorizationCode: {
			authorizationUrl: oauthPaths.authorize,
			tokenUrl: oauthPaths.token,
			refreshUrl: oauthPaths.token,
			scopes: Object.fromEntries(scopes),
		},
	},
};

/** HTTP Basic with client ID and secret; a client may send them in the body instead. */
const clientSecretScheme = {
	type: 'http',
	scheme: 'basic',
	description: 'Client ID and client secret of an OAuth client, both form-urlencoded.',
};

const collections = [...resources, anyRecords];

/** The service as an OpenAPI 3.1 document: its routes, and the components that they refer to. */
export const openApiDocument = (routes: readonly ApiRoute[]) => ({
	openapi: '3.1.0',
	info: { title: 'CRM Platform API', version: '1.0.0', description: introduction, license: { name: 'MIT', identifier: 'MIT' } },
	servers: [{ url: '/' }],
	security: [{ apiKey: [] }, { oauth2: [] }],
	tags: [
		...[...collections, jobs, webhooks].map((resource) => ({
			name: resource.name,
			// The heading in the documentation; the name is part of the path.
			'x-displayName': capital(namesOf(resource).plural),
			description: resource.description,
		})),
		{ name: 'events', 'x-displayName': 'Events', description: 'The events of the last 30 days.' },
		{ name: 'account', 'x-displayName': 'Account', description: 'Your account, its plan and its limits.' },
		{ name: 'oauth', 'x-displayName': 'OAuth 2.0', description: 'Access tokens for applications that act for a user.' },
		{ name: 'discovery', 'x-displayName': 'Discovery', description: 'Entry point and OpenAPI document.' },
	],
	paths: pathsOf(routes),
	webhooks: eventWebhooks(),
	components: {
		securitySchemes: {
			apiKey: { type: 'http', scheme: 'bearer', description: 'An API key of the account.' },
			oauth2: oauth2Scheme,
			clientSecret: clientSecretScheme,
		},
		headers,
		responses: { ...errorResponses(), ...oauthErrorResponses() },
		schemas: {
			...Object.fromEntries(collections.flatMap((resource) => Object.entries(resourceSchemas(resource)))),
			...jobSchemas(),
			...webhookSchemas(),
			...eventSchemas(),
			...namedSchemas(),
		},
	},
});

/** The schemas of jobs: a record and a list. Jobs are not written as records are. */
function jobSchemas(): Record<string, JsonSchema> {
	const { Job, JobList } = resourceSchemas(jobs);
	return { Job: Job!, JobList: JobList! };
}

const headers = {
	'X-Request-Id': { description: 'Identifies the request.', schema: { type: 'string' } },
	'X-RateLimit-Remaining': { description: 'Requests left in this window.', schema: { type: 'integer', minimum: 0 } },
	'X-RateLimit-Reset': { description: 'Time the window resets, in seconds since 1970.', schema: { type: 'integer' } },
	'Retry-After': { description: 'Seconds to wait before retrying.', schema: { type: 'integer', minimum: 1 } },
	ETag: { description: 'The version of the record.', schema: { type: 'string' } },
	Location: { description: 'Path of the new record.', schema: { type: 'string' } },
	'Idempotent-Replayed': {
		description: 'true if the response was replayed for an idempotency key.',
		schema: { type: 'string', enum: ['true'] },
	},
	Allow: { description: 'The allowed methods.', schema: { type: 'string' } },
	'WWW-Authenticate': { description: 'How to authenticate.', schema: { type: 'string' } },
	'Cache-Control': { description: 'Forbids caching.', schema: { type: 'string' } },
};

/** The schemas of subscriptions and deliveries. */
function webhookSchemas(): Record<string, JsonSchema> {
	const { Webhook, WebhookCreate, WebhookUpdate, WebhookList } = resourceSchemas(webhooks);
	const record = withEventPatterns(Webhook!);
	const secret: JsonSchema = {
		title: 'Secret',
		description: 'The signing secret. Store it safely: it is not shown again.',
		type: 'string',
		examples: ['whsec_dGhpcyBpcyBhbiBleGFtcGxlIG9mIDMyIGJ5dGVzISE='],
	};
	return {
		Webhook: record,
		WebhookCreate: withEventPatterns(WebhookCreate!),
		WebhookUpdate: withEventPatterns(WebhookUpdate!),
		WebhookList: WebhookList!,
		WebhookWithSecret: {
			...record,
			description: 'A webhook with its secret.',
			properties: { ...record.properties, secret },
			example: { ...(record['example'] as object), secret: exampleValue(secret) },
		},
		WebhookDeliveryList: pageSchema('WebhookDelivery', 'deliveries'),
	};
}

/** A copy of a schema with the patterns of events to subscribe to. */
const withEventPatterns = (schema: JsonSchema): JsonSchema => {
	const { events, ...others } = schema.properties!;
	const properties = { url: others['url']!, events: { ...events, items: componentRef('EventPattern') }, ...others };
	return { ...schema, properties };
};
