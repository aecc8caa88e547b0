import { accountSchema } from '../schemas/account.ts';
import { resources } from '../schemas/index.ts';
import { anyRecords } from '../schemas/custom-objects.ts';
import { jobs } from '../schemas/jobs.ts';
import { jsonSchema } from '../schemas/json-schema.ts';
import type { Resource } from '../schemas/resource.ts';
import { users } from '../schemas/users.ts';
import { webhooks } from '../schemas/webhooks.ts';
import { actionPaths } from './actions.ts';
import { batchPaths } from './batch.ts';
import { discoveryPaths, discoveryTag } from './discovery.ts';
import { eventPaths, eventSchemas } from './events.ts';
import { eventWebhooks } from './event-webhooks.ts';
import { jobPaths, jobSchemas } from './jobs.ts';
import { capital, namesOf } from '../schemas/names.ts';
import { authorizePaths } from './oauth-authorize.ts';
import { clientSecretScheme, oauthTag } from './oauth-parts.ts';
import { oauthErrorResponses } from './oauth-responses.ts';
import { oauthSchemas } from './oauth-schemas.ts';
import { tokenPaths } from './oauth-tokens.ts';
import { oauth2Scheme } from './oauth2.ts';
import { commonErrors, resourcePaths } from './operations.ts';
import { errorResponses, errors, headers, success } from './responses.ts';
import { problemSchema, resourceSchemas } from './schemas.ts';
import { tagPaths } from './tags.ts';
import { webhookPaths, webhookSchemas } from './webhooks.ts';

const all: readonly Resource[] = [...resources, anyRecords('{key}')];

let text: string | undefined;

/** The same as JSON: made when it is first asked for, and never different. */
export const openApiText = (): string => (text ??= JSON.stringify(openApiDocument()));

/** The whole service as an OpenAPI 3.1 document. */
export const openApiDocument = () => ({
	openapi: '3.1.0',
	info: {
		title: 'CRM Platform API',
		version: '1.0.0',
		description: 'Programmatic access to a customer-relationship platform.',
		license: { name: 'MIT', identifier: 'MIT' },
	},
	servers: [{ url: '/' }],
	security: [{ apiKey: [] }, { oauth2: [] }],
	tags: [
		...[...all, jobs, webhooks].map((resource) => ({
			name: resource.name,
			// What it is called in the documentation; names are as in the path.
			'x-displayName': capital(namesOf(resource).many),
			description: resource.description,
		})),
		{ name: 'events', description: 'What has happened to records in the last 30 days.' },
		{ name: 'account', description: 'Your account, its plan and its limits.' },
		oauthTag,
		discoveryTag,
	],
	paths: {
		...ofAll(resourcePaths),
		...ofAll(actionPaths),
		...ofAll(tagPaths),
		...ofAll(batchPaths),
		...jobPaths(),
		...webhookPaths(),
		...eventPaths(),
		'/v1/users/me': {
			get: {
				operationId: 'getCurrentUser',
				tags: [users.name],
				summary: 'Get yourself',
				description: 'The user you act for; with an API key, the owner of the account.',
				parameters: [],
				responses: { 200: success('The user.', 'User', 'ETag'), ...errors(400, 404, ...commonErrors) },
			},
		},
		'/v1/account': {
			get: {
				operationId: 'getAccount',
				tags: ['account'],
				summary: 'Get the account',
				parameters: [],
				responses: { 200: success('The account.', 'Account'), ...errors(400, ...commonErrors) },
			},
		},
		...authorizePaths,
		...tokenPaths,
		...discoveryPaths,
	},
	webhooks: eventWebhooks(),
	components: {
		securitySchemes: {
			apiKey: {
				type: 'http',
				scheme: 'bearer',
				description: 'An API key of the account.',
			},
			oauth2: oauth2Scheme,
			clientSecret: clientSecretScheme,
		},
		headers,
		responses: { ...errorResponses(), ...oauthErrorResponses() },
		schemas: {
			...ofAll(resourceSchemas),
			...jobSchemas(),
			...webhookSchemas(),
			...eventSchemas(),
			Account: { description: 'The account.', ...jsonSchema(accountSchema, 'output') },
			Problem: problemSchema,
			...oauthSchemas,
		},
	},
});

/** What `describe` says about each resource, in one object. */
const ofAll = <T>(describe: (resource: Resource) => Record<string, T>): Record<string, T> =>
	Object.fromEntries(all.flatMap((resource) => Object.entries(describe(resource))));
