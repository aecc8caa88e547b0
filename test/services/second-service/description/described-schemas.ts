import { branches, segments } from '../record-types.ts';

const orNothing = { nullable: true };
const name = { type: 'string', minLength: 1, maxLength: 120 };
const date = { type: 'string', format: 'date' };
const dateTime = { type: 'string', format: 'date-time' };
/** In OpenAPI 3.0 a nullable enumeration has to list null as well. */
const oneOf = (values: readonly string[]) => ({
	type: 'string',
	enum: [...values, null],
	...orNothing,
});
const schema = (of: string) => ({ $ref: `#/components/schemas/${of}` });
const page = (of: string) => ({
	allOf: [
		schema('Page'),
		{ type: 'object', properties: { data: { type: 'array', items: schema(of) } } },
	],
});

/** Every schema of the description; records are composed with allOf. */
export const schemas = {
	Stamp: {
		type: 'object',
		properties: {
			id: { type: 'string', readOnly: true },
			changed_at: { ...dateTime, readOnly: true },
		},
	},
	Page: {
		type: 'object',
		required: ['data', 'next_cursor', 'total'],
		properties: {
			data: { type: 'array', items: { type: 'object' } },
			next_cursor: { type: 'string', ...orNothing },
			total: { type: 'integer' },
		},
	},
	Segment: oneOf(segments),
	ContactFields: {
		type: 'object',
		properties: {
			given_name: { ...name, ...orNothing, title: 'Given name' },
			family_name: { ...name, title: 'Family name' },
			mail: { type: 'string', format: 'email', ...orNothing, title: 'Mail address' },
			birthday: { ...date, ...orNothing },
			employer_id: { type: 'string', ...orNothing, title: 'Employer' },
			vip: { type: 'boolean', default: false, title: 'VIP' },
			score: { type: 'integer', minimum: 0, maximum: 100, ...orNothing },
			segment: schema('Segment'),
			joined_on: { ...dateTime, title: 'Joined on' },
		},
	},
	Contact: { allOf: [schema('Stamp'), schema('ContactFields')] },
	NewContact: { allOf: [schema('ContactFields'), { type: 'object', required: ['family_name'] }] },
	ContactsPage: page('Contact'),
	CompanyFields: {
		type: 'object',
		properties: {
			legal_name: { ...name, title: 'Legal name' },
			registration_number: { ...name, ...orNothing, title: 'Registration number' },
			headcount: { type: 'integer', minimum: 0, ...orNothing },
			branch: oneOf(branches),
			listed: { type: 'boolean', default: false, title: 'Listed at an exchange' },
			founded: { ...date, ...orNothing },
		},
	},
	Company: { allOf: [schema('Stamp'), schema('CompanyFields')] },
	NewCompany: { allOf: [schema('CompanyFields'), { type: 'object', required: ['legal_name'] }] },
	CompaniesPage: page('Company'),
	Refusal: {
		type: 'object',
		required: ['error'],
		properties: {
			error: {
				type: 'object',
				required: ['message', 'reason'],
				properties: { message: { type: 'string' }, reason: { type: 'string' } },
			},
		},
	},
};
