import { filtersOf } from '../queries/filters.ts';
import {
	longestSearch,
	pageSize,
	sortableFields,
	standardOrder,
} from '../queries/list-query.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import { hasCustomFields, type Resource } from '../schemas/resource.ts';
import { filterParameter } from './filter-parameters.ts';
import { namesOf } from '../schemas/names.ts';
import { listParameter, type Parameter, queryParameter, documentationExample } from './parameter.ts';

/** The query parameters that every list has. */
export const pageParameters: Parameter[] = [
	queryParameter('cursor', 'Where to go on: next_cursor of the page before, with the same filters.', {
		type: 'string',
	}),
	queryParameter('limit', 'How many records a page has at most.', {
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
			...queryParameter('sort', 'Fields to sort by, a minus sign before those in descending order.', {
				type: 'array',
				items: { type: 'string', enum: sorts },
				default: [standardOrder],
			}),
			style: 'form',
			explode: false,
		},
		queryParameter('q', `Words to search ${many} for, in ${resource.searched.join(', ')}.`, {
			title: 'Search',
			type: 'string',
			minLength: 1,
			maxLength: longestSearch,
		}),
		{
			...listParameter('ids', `Only ${many} with one of these ids.`, { type: 'string' }),
			schema: {
				title: 'IDs',
				type: 'array',
				items: { type: 'string' },
				maxItems: pageSize.maximum,
			},
		},
		fieldsParameter(resource),
		queryParameter('include_deleted', `Whether deleted ${many} are listed as well.`, {
			type: 'boolean',
			default: false,
		}),
		{
			...queryParameter('updated_since', 'Only records changed at this instant or later.', instant),
			...documentationExample('2025-03-01T00:00:00.000Z'),
		},
		{
			...queryParameter('updated_until', 'Only records changed before this instant.', instant),
			...documentationExample('2025-04-01T00:00:00.000Z'),
		},
		...filtersOf(resource).map(filterParameter),
	];
}

const instant: JsonSchema = { type: 'string', format: 'date-time' };

export const fieldsParameter = (resource: Resource): Parameter =>
	listParameter('fields', 'Which fields to answer with; id and object always come along.', {
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
		...queryParameter('match_on', description, isOpen ? { anyOf: [own, custom] } : own),
		required: true,
		...(isOpen && { 'x-custom-fields': 'custom_fields.{key}' }),
	};
}

export const idempotencyKeyParameter: Parameter = {
	name: 'Idempotency-Key',
	in: 'header',
	description: 'A new value for every new request; sent again with it, the request is done once.',
	schema: { type: 'string', minLength: 1, maxLength: 255 },
	...documentationExample('6f1c1b8e-8a43-4a3a-9b53-1d2f5f3c7d10'),
};

export const ifMatchParameter: Parameter = {
	name: 'If-Match',
	in: 'header',
	description: 'The ETag of the version to change; if there is a newer one, nothing happens.',
	schema: { type: 'string' },
	...documentationExample('"3"'),
};
