import { hasTags } from '../schemas/tags.ts';
import type { Resource } from '../schemas/resource.ts';
import { namesOf } from '../schemas/names.ts';
import { securityOf } from './oauth2.ts';
import { commonErrors } from './operations.ts';
import { idempotencyKeyParameter, idParameter, ifMatchParameter, pathParameters } from './parameters.ts';
import { errors, success } from './responses.ts';

/** The path of a single tag on a record, for resources whose records have tags. */
export function tagPaths(resource: Resource): Record<string, unknown> {
	if (!hasTags(resource)) return {};
	const { One, one, aOne } = namesOf(resource);
	const operation = (operationId: string, summary: string) => ({
		operationId,
		tags: [resource.name],
		summary,
		parameters: [ifMatchParameter, idempotencyKeyParameter],
		responses: {
			200: success(`The ${one} with its tags.`, One, 'ETag', 'Idempotent-Replayed'),
			...errors(400, 404, 409, 412, 422, ...commonErrors),
		},
		security: securityOf(resource.name, 'write'),
	});
	return {
		[`/v1/${resource.name}/{id}/tags/{tag_id}`]: {
			parameters: [...pathParameters(resource), idParameter, tagIdParameter],
			put: operation(`tag${One}`, `Put a tag on ${aOne}`),
			delete: operation(`untag${One}`, `Take a tag off ${aOne}`),
		},
	};
}

const tagIdParameter = { ...idParameter, name: 'tag_id', description: 'Id of the tag.' };
