import { type Filter, filtersOf, isFreeText } from '../collection/filters.ts';
import {
	longestSearch,
	pageSize,
	sortableFields,
	standardOrder,
} from '../collection/list-query.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import { hasCustomFields, type Resource } from '../schemas/resource.ts';
import { namesOf } from './names.ts';

export interface Parameter {
	name: string;
	in: 'query' | 'path' | 'header';
	description: string;
	required?: boolean;
	schema: JsonSchema;
	style?: 'form';
	explode?: boolean;
	examples?: Record<string, { value: unknown; 'x-disabled': boolean }>;
}

/** An example for readers. The documentation's request tester does not send it unless told to. */
const shown = (value: unknown) => ({ examples: { example: { value, 'x-disabled': true } } });

export const query = (name: string, description: string, schema: JsonSchema): Parameter => ({
	name,
	in: 'query',
	description,
	schema,
});

/** A comma list. */
export const listOf = (name: string, description: string, items: JsonSchema): Parameter => ({
	...query(name, description, { type: 'array', items }),
	style: 'form',
	explode: false,
});

/** The query parameters that every list has. */
export const pageParameters: Parameter[] = [
	query('cursor', 'Where to go on: next_cursor of the page before, with the same filters.', {
		type: 'string',
	}),
	query('limit', 'How many records a page has at most.', {
		type: 'integer',
		minimum: pageSize.minimum,
		maximum: pageSize.maximum,
		default: pageSize.standard,
	}),
];

/** The query parameters of a list: paging, then what narrows it down, filter by filter. */
export function listParameters(resource: Resource): Parameter[] {
	const { many } = namesOf(resource);
	const sorts = sortableFields(resource).flatMap((field) => [field, `-${field}`]);
	return [
		...pageParameters,
		{
			...query('sort', 'Fields to sort by, a minus sign before those in descending order.', {
				type: 'array',
				items: { type: 'string', enum: sorts },
				default: [standardOrder],
			}),
			style: 'form',
			explode: false,
		},
		query('q', `Words to search ${many} for, in ${resource.searched.join(', ')}.`, {
			title: 'Search',
			type: 'string',
			minLength: 1,
			maxLength: longestSearch,
		}),
		{
			...listOf('ids', `Only ${many} with one of these ids.`, { type: 'string' }),
			schema: {
				title: 'IDs',
				type: 'array',
				items: { type: 'string' },
				maxItems: pageSize.maximum,
			},
		},
		fieldsParameter(resource),
		query('include_deleted', `Whether deleted ${many} are listed as well.`, {
			type: 'boolean',
			default: false,
		}),
		{
			...query('updated_since', 'Only records changed at this instant or later.', instant),
			...shown('2025-03-01T00:00:00.000Z'),
		},
		{
			...query('updated_until', 'Only records changed before this instant.', instant),
			...shown('2025-04-01T00:00:00.000Z'),
		},
		...filtersOf(resource).map(filterParameter),
	];
}

const instant: JsonSchema = { type: 'string', format: 'date-time' };

export const fieldsParameter = (resource: Resource): Parameter =>
	listOf('fields', 'Which fields to answer with; id and object always come along.', {
		type: 'string',
		enum: Object.keys(resource.properties),
	});

export const idParameter: Parameter = {
	name: 'id',
	in: 'path',
	description: 'Id of the record.',
	required: true,
	schema: { type: 'string', maxLength: 64 },
};

/** What stands in a resource's path beside the id. */
export const pathParameters = ({ name }: Resource): Parameter[] =>
	name.includes('{key}') ? [{ ...idParameter, name: 'key', description: 'Key of the object.' }] : [];

/** Unique custom fields match as well; which ones there are, the account decides. */
export function matchOnParameter(resource: Resource): Parameter {
	const description = 'The unique field to find the record by; its value is in the body.';
	const own = { type: 'string', enum: Object.keys(resource.unique) };
	const custom = { type: 'string', pattern: '^custom_fields\\.' };
	const isOpen = hasCustomFields(resource);
	return {
		...query('match_on', description, isOpen ? { anyOf: [own, custom] } : own),
		required: true,
		...(isOpen && { 'x-custom-fields': 'custom_fields.{key}' }),
	};
}

export const idempotencyKeyParameter: Parameter = {
	name: 'Idempotency-Key',
	in: 'header',
	description: 'A new value for every new request; sent again with it, the request is done once.',
	schema: { type: 'string', minLength: 1, maxLength: 255 },
	...shown('6f1c1b8e-8a43-4a3a-9b53-1d2f5f3c7d10'),
};

export const ifMatchParameter: Parameter = {
	name: 'If-Match',
	in: 'header',
	description: 'The ETag of the version to change; if there is a newer one, nothing happens.',
	schema: { type: 'string' },
	...shown('"3"'),
};

/** The query parameter of a filter. */
export function filterParameter(filter: Filter): Parameter {
	const { title, description: _, readOnly: __, default: ___, ...value } = filter.schema;
	if (filter.takesList) {
		const verb = filter.isList ? 'include' : 'is';
		const words = `${title} ${verb} one of these.${filter.isList ? '' : caseWords(filter)}`;
		return titled(title, listOf(filter.parameter, words, value));
	}
	const words = value.format?.startsWith('date') ? timeWords : amountWords;
	const { examples, ...schema } = value;
	const description = `${title} ${words[filter.operator]}.${caseWords(filter)}`;
	const parameter = {
		...query(filter.parameter, description, schema),
		...(examples && shown(examples[0])),
	};
	return filter.operator === '=' ? titled(title, parameter) : parameter;
}

/** With the name people know it by. */
const titled = (title: string | undefined, { schema, ...parameter }: Parameter): Parameter => ({
	...parameter,
	schema: title === undefined ? schema : { title, ...schema },
});

/** How equality of texts takes upper and lower case; nothing where there is no choice. */
function caseWords({ operator, schema, type }: Filter): string {
	if (operator !== '=' || !isFreeText(schema)) return '';
	const [example] = schema.examples ?? [];
	const upper = typeof example === 'string' ? example.toUpperCase() : '';
	const isFolded = upper !== example && type.safeParse(upper).data === example;
	return isFolded ? ' Case does not matter.' : ' Case matters.';
}

const textWords = {
	contains: 'contains this, whatever its case and accents',
	starts_with: 'begins with this, whatever its case and accents',
	empty: 'has no value (true) or has one (false); an empty text or list is none',
};

const amountWords = {
	...textWords,
	'=': 'is exactly this',
	'>=': 'is this or more',
	'>': 'is more than this',
	'<=': 'is this or less',
	'<': 'is less than this',
};

const timeWords = {
	...textWords,
	'=': 'is exactly this',
	'>=': 'is at this time or later',
	'>': 'is later than this',
	'<=': 'is at this time or earlier',
	'<': 'is earlier than this',
};
