import {
	documentationExample,
	listParameter,
	pageParameters,
	queryParameter,
	requiredQueryParameter,
} from '../description/parameters.ts';
import { filterParameter } from '../description/filter-parameters.ts';
import type { Parameter } from '../http/operation.ts';
import { filtersOf } from '../queries/filters.ts';
import {
	maxSearchLength,
	pageSize,
	sortableFields,
	standardOrder,
} from '../queries/list-query.ts';
import type { JsonSchema } from '../schemas/json-schema.ts';
import { namesOf } from '../schemas/names.ts';
import { hasCustomFields, type Resource } from '../schemas/resource.ts';

/** The query parameters of a list: pages, order, search, fields, and every filter. */
export function listParameters(resource: Resource): Parameter[] {
	const { many } = namesOf(resource);
	const sorts = sortableFields(resource).flatMap((field) => [field, `-${field}`]);
	return [
		...pageParameters,
		{
			...queryParameter('sort', 'Fields to sort by; a minus sign means descending order.', {
				type: 'array',
				items: { type: 'string', enum: sorts },
				default: [standardOrder],
			}),
			style: 'form',
			explode: false,
		},
		queryParameter('q', `Words to search for in ${resource.searched.join(', ')}.`, {
			title: 'Search',
			type: 'string',
			minLength: 1,
			maxLength: maxSearchLength,
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
		queryParameter('include_deleted', `Whether to include deleted ${many}.`, {
			type: 'boolean',
			default: false,
		}),
		{
			...queryParameter('updated_since', 'Only records changed at this instant or later.', instantSchema),
			...documentationExample('2025-03-01T00:00:00.000Z'),
		},
		{
			...queryParameter('updated_until', 'Only records changed before this instant.', instantSchema),
			...documentationExample('2025-04-01T00:00:00.000Z'),
		},
		...filtersOf(resource).map(filterParameter),
	];
}

const instantSchema: JsonSchema = { type: 'string', format: 'date-time' };

export const fieldsParameter = (resource: Resource): Parameter =>
	listParameter('fields', 'The fields to return, besides id and object.', {
		type: 'string',
		enum: Object.keys(resource.properties),
	});

/** Unique custom fields match as well. They differ by account, so the document cannot list them. */
export function matchOnParameter(resource: Resource): Parameter {
	const description = 'The unique field to match on; its value is in the body.';
	const own = { type: 'string', enum: Object.keys(resource.unique) };
	const custom = { type: 'string', pattern: '^custom_fields\\.' };
	const isOpen = hasCustomFields(resource);
	return {
		...requiredQueryParameter('match_on', description, isOpen ? { anyOf: [own, custom] } : own),
		...(isOpen && { 'x-custom-fields': 'custom_fields.{key}' }),
	};
}
