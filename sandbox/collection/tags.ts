import { idempotencyKeyParameter, ifMatchParameter } from '../description/parameters.ts';
import { errors, success } from '../description/responses.ts';
import type { ApiRoute } from '../http/route.ts';
import { namesOf } from '../schemas/names.ts';
import type { Resource } from '../schemas/resource.ts';
import { hasTags, tags } from '../schemas/tags.ts';
import type { Service } from '../http/service.ts';
import { queryParameters } from '../http/query.ts';
import { answerWrite } from './requests.ts';
import { tagIdsOf } from '../records/tag-usage.ts';
import { existingRecord, updateRecord } from '../records/write.ts';

/** The routes that add a tag to a record and remove it; none if the records have no tags. */
export function tagRoutes(service: Service, resource: Resource): ApiRoute[] {
	if (!hasTags(resource)) return [];
	const { One, one, aOne } = namesOf(resource);
	const path = `/v1/${resource.name}/{id}/tags/{tag_id}`;

	const change =
		(retag: (ids: string[], tagId: string) => string[]): ApiRoute['handler'] =>
		(c) => {
			queryParameters(c, []);
			const id = c.req.param('id')!;
			return answerWrite(service, resource, c, false, (writing) => {
				const { store } = writing;
				const ids = tagIdsOf(existingRecord(store, resource, id));
				const tag = existingRecord(store, tags, c.req.param('tag_id')!);
				const change = { tag_ids: retag(ids, tag.id) };
				return updateRecord(writing, id, change, c.req.header('If-Match'));
			});
		};

	const operation = (operationId: string, summary: string) => ({
		operationId,
		tags: [resource.name],
		summary,
		parameters: [ifMatchParameter, idempotencyKeyParameter],
		responses: {
			200: success(`The ${one} with its tags.`, One, 'ETag', 'Idempotent-Replayed'),
			...errors(400, 404, 409, 412, 422),
		},
	});

	return [
		{
			method: 'PUT',
			path,
			handler: change((ids, tag) => [...new Set([...ids, tag])]),
			operation: () => operation(`tag${One}`, `Add a tag to ${aOne}`),
		},
		{
			method: 'DELETE',
			path,
			handler: change((ids, tag) => ids.filter((id) => id !== tag)),
			operation: () => operation(`untag${One}`, `Remove a tag from ${aOne}`),
		},
	];
}
