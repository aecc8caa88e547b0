import type { ApiRoute } from '../endpoint/endpoint.ts';
import { anyRecords } from '../../core/schemas/custom-objects.ts';
import { resources } from '../../core/schemas/index.ts';
import { jobs } from '../../core/schemas/jobs.ts';
import { type JsonSchema, namedSchemas } from '../../core/schemas/json-schema.ts';
import { capital, namesOf } from '../../core/schemas/names.ts';
import { webhooks } from '../../core/schemas/webhooks.ts';
import { eventSchemas } from './event-schemas.ts';
import { eventWebhooks } from './event-webhooks.ts';
import { introduction } from './introduction.ts';
import { clientSecretScheme, oauth2Scheme } from './security-schemes.ts';
import { pathsOf } from './paths.ts';
import { errorResponses, oauthErrorResponses } from './error-responses.ts';
import { resourceSchemas } from './resource-schemas.ts';
import { webhookSchemas } from './webhook-schemas.ts';

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
