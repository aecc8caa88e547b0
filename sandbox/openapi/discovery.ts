import { deprecationHeaders, withoutVersion } from '../http/deprecation.ts';
import { contacts } from '../schemas/contacts.ts';
import { listOperation } from './operations.ts';
import { commonHeaders, errors, headerRefs } from './responses.ts';

export const discoveryTag = { name: 'discovery', description: 'Entry point and OpenAPI document.' };

const { responses, ...listOfContacts } = listOperation(contacts);

const anyObject = (description: string) => ({
	description,
	headers: commonHeaders,
	content: { 'application/json': { schema: { description, type: 'object' } } },
});

/** The paths without a version. */
export const discoveryPaths = {
	'/contacts': {
		get: {
			...listOfContacts,
			operationId: 'verifyCredentials',
			summary: 'List contacts, without the version',
			description:
				`Responds like ${withoutVersion.successor} until ${withoutVersion.sunset.slice(0, 10)}. ` +
				`Use ${withoutVersion.successor} instead.`,
			deprecated: true,
			responses: {
				...responses,
				200: {
					...responses[200],
					headers: {
						...responses[200].headers,
						...headerRefs(...Object.keys(deprecationHeaders(withoutVersion))),
					},
				},
				...errors(410),
			},
		},
	},
	'/': {
		get: {
			operationId: 'getWelcome',
			tags: [discoveryTag.name],
			summary: 'Get the entry point',
			parameters: [],
			responses: { 200: anyObject('Where to continue.'), ...errors(405, 500, 503) },
			security: [],
		},
	},
	'/openapi.json': {
		get: {
			operationId: 'getDescription',
			tags: [discoveryTag.name],
			summary: 'Get the OpenAPI document',
			parameters: [],
			responses: {
				200: anyObject('The service, as an OpenAPI 3.1 document.'),
				...errors(405, 500, 503),
			},
			security: [],
		},
	},
};
