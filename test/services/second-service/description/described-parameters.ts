import { maxKeyLength } from '../access-control.ts';
import { maxPageSize } from '../collection.ts';
import { branches, company, contact, segments } from '../record-types.ts';

const query = (name: string, description: string, schema: object) => ({
	name,
	in: 'query',
	description,
	schema,
});

const text = { type: 'string' };
const yesOrNo = { type: 'boolean' };

/** Every parameter the paths refer to. */
export const parameters = {
	Reference: {
		name: 'reference',
		in: 'path',
		required: true,
		description: 'The id of the record',
		schema: text,
	},
	WriteKey: {
		name: 'X-Idempotency-Key',
		in: 'header',
		required: true,
		description: 'A write is carried out once for each key',
		schema: { type: 'string', maxLength: maxKeyLength },
	},
	After: query('after', 'Continue after this place: the next_cursor of the previous page', text),
	PageSize: query('page_size', 'How many records a page holds', {
		type: 'integer',
		minimum: 1,
		maximum: maxPageSize,
		default: 25,
	}),

	ContactsOrder: query('order', 'What comes first', { ...text, enum: contact.orders }),
	ContactsSegment: query('segment', 'Only this segment', { ...text, enum: segments }),
	ContactsVip: query('vip', 'Only VIPs, or only others', yesOrNo),
	ContactsEmployer: query('employer_id', 'Only people of this company', text),
	ContactsMail: query('mail', 'Only this mail address', { ...text, format: 'email' }),
	ContactsJoined: query('joined_since', 'Only people who joined since', {
		...text,
		format: 'date-time',
	}),
	ContactsText: query('text', 'Only people whose name or mail address contains this', text),

	CompaniesOrder: query('order', 'What comes first', { ...text, enum: company.orders }),
	CompaniesBranch: query('branch', 'Only this branch', { ...text, enum: branches }),
	CompaniesListed: query('listed', 'Only listed companies, or only others', yesOrNo),
	CompaniesHeadcount: query('headcount_from', 'Only companies of this size or larger', {
		type: 'integer',
		minimum: 0,
	}),
	CompaniesText: query('text', 'Only companies whose name or number contains this', text),
};
