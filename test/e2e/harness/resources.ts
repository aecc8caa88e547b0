import { randomUUID } from 'node:crypto';

/** One kind of record, as the tests of the operations need it. */
interface TestedResource {
	value: 'contact' | 'company';
	path: string;
	/** A field that no two records share, and a value no other test uses. */
	key: 'email' | 'domain';
	newKey(): string;
	/** A field that may be any text. */
	text: string;
	/** What the service asks of a new record beyond those two. */
	required: Record<string, string>;
}

export const resources: TestedResource[] = [
	{
		value: 'contact',
		path: '/v1/contacts',
		key: 'email',
		newKey: () => `${randomUUID()}@example.com`,
		text: 'job_title',
		required: {},
	},
	{
		value: 'company',
		path: '/v1/companies',
		key: 'domain',
		newKey: () => `${randomUUID()}.example`,
		text: 'description',
		required: { name: 'Altamira Logistics' },
	},
];

/** One row of filters. */
export const filterBy = (field: string, value: string) => ({ rows: [{ field, operator: 'is', value }] });

/** A resource mapper that takes what it knows from the input items. */
export const fromInput = {
	mappingMode: 'autoMapInputData',
	value: null,
	matchingColumns: [],
	schema: [],
};
