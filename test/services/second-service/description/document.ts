import { parameters } from './described-parameters.ts';
import { pathsOf } from './paths.ts';
import { schemas } from './described-schemas.ts';

const body = (name: string) => ({
	required: true,
	content: { 'application/json': { schema: { $ref: `#/components/schemas/${name}` } } },
});

/**
 * The service's description of itself, in OpenAPI 3.0.3, as different from the sandbox's as the standard allows:
 * paths without the prefix, which is in the server's address; parameters, bodies and schemas by reference;
 * records composed with allOf; and a Link Object for the next page of contacts but not of companies.
 */
export const secondDocument = {
	openapi: '3.0.3',
	info: { title: 'The second service', version: '1' },
	servers: [{ url: '/v1' }],
	security: [{ key: [] }],
	paths: {
		...pathsOf({
			singular: 'Contact',
			plural: 'Contacts',
			path: 'contacts',
			key: 'mail',
			filters: ['Segment', 'Vip', 'Employer', 'Mail', 'Joined', 'Text'],
			links: {
				next: {
					operationId: 'contacts.browse',
					parameters: { after: '$response.body#/next_cursor' },
				},
			},
		}),
		...pathsOf({
			singular: 'Company',
			plural: 'Companies',
			path: 'companies',
			key: 'registration_number',
			filters: ['Branch', 'Listed', 'Headcount', 'Text'],
		}),
	},
	components: {
		securitySchemes: { key: { type: 'http', scheme: 'bearer' } },
		parameters,
		requestBodies: {
			NewContact: body('NewContact'),
			ChangedContact: body('ContactFields'),
			NewCompany: body('NewCompany'),
			ChangedCompany: body('CompanyFields'),
		},
		responses: {
			Refused: {
				description: 'Not carried out',
				content: { 'application/json': { schema: { $ref: '#/components/schemas/Refusal' } } },
			},
		},
		schemas,
	},
};
