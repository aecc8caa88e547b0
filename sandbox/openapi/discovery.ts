import { deprecationHeaders, withoutVersion } from '../http/deprecation.ts';
import { contacts } from '../schemas/contacts.ts';
import { listOperation } from './operations.ts';
import { commonHeaders, errors, headerRefs } from './responses.ts';

export const discoveryTag = { name: 'discovery', description: 'Where to find what.' };

const { responses, ...listOfContacts } = listOperation(contacts);

const something = (description: string) => ({
	description,
	headers: commonHeaders,
	content: { 'application/json': { schema: { description, type: 'object' } } },
});

/** What has no version. */
export const discoveryPaths = {
	'/contacts': {
		get: {
			...listOfContacts,
			operationId: 'verifyCredentials',
			summary: 'List contacts, without the version',
			description:
				`Answers as ${withoutVersion.successor}, which is to be used instead, ` +
				`until ${withoutVersion.sunset.slice(0, 10)}.`,
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
			summary: 'Get what there is to know first',
			parameters: [],
			responses: { 200: something('Where to go on.'), ...errors(405, 500, 503) },
			security: [],
		},
	},
	'/openapi.json': {
		get: {
			operationId: 'getDescription',
			tags: [discoveryTag.name],
			summary: 'Get this description',
			parameters: [],
			responses: {
				200: something('The service, as an OpenAPI 3.1 document.'),
				...errors(405, 500, 503),
			},
			security: [],
		},
	},
};
