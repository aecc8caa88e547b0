import { randomUUID } from 'node:crypto';

/** A record type that the tests of the operations use. */
interface TestedResource {
	value: 'contact' | 'company';
	path: string;
	/** A unique field. */
	key: 'email' | 'domain';
	/** A value that no other test uses. */
	newKey(): string;
	/** A field for any text. */
	text: string;
	/** Other required fields of a new record. */
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

/** A resource mapper that takes the values of known fields from the input items. */
export const fromInput = {
	mappingMode: 'autoMapInputData',
	value: null,
	matchingColumns: [],
	schema: [],
};
