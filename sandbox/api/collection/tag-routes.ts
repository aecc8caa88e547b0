import { type ApiRoute, endpoint } from '../endpoint/endpoint.ts';
import { success } from '../endpoint/responses.ts';
import { namesOf } from '../../core/schemas/names.ts';
import type { Resource } from '../../core/schemas/resource.ts';
import { hasTags, tags } from '../../core/schemas/tags.ts';
import type { Service } from '../../core/service.ts';
import { respondToBodylessWrite } from './respond-to-write.ts';
import { tagIdsOf } from '../../domain/records/tag-usage.ts';
import { existingRecord, updateRecord } from '../../domain/records/write.ts';

/** The routes that add a tag to a record and remove it; none if the records have no tags. */
export function tagRoutes(service: Service, resource: Resource): ApiRoute[] {
	if (!hasTags(resource)) return [];
	const { Singular, singular, withArticle } = namesOf(resource);
	const tagEndpoint = (
		method: 'PUT' | 'DELETE',
		id: string,
		summary: string,
		retag: (ids: string[], tagId: string) => string[],
	): ApiRoute =>
		endpoint({
			method,
			path: `/v1/${resource.name}/{id}/tags/{tag_id}`,
			id,
			summary,
			tag: resource.name,
			ifMatch: true,
			responses: { 200: success(`The ${singular} with its tags.`, Singular, 'ETag') },
			handle: (c) =>
				respondToBodylessWrite(service, resource, c, (context) => {
					const { store } = context;
					const recordId = c.req.param('id')!;
					const ids = tagIdsOf(existingRecord(store, resource, recordId));
					const tag = existingRecord(store, tags, c.req.param('tag_id')!);
					const change = { tag_ids: retag(ids, tag.id) };
					return updateRecord(context, recordId, change, c.req.header('If-Match'));
				}),
		});
	return [
		tagEndpoint('PUT', `tag${Singular}`, `Add a tag to ${withArticle}`, (ids, tag) => [...new Set([...ids, tag])]),
		tagEndpoint('DELETE', `untag${Singular}`, `Remove a tag from ${withArticle}`, (ids, tag) => ids.filter((id) => id !== tag)),
	];
}
