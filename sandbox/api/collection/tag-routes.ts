import { type ApiRoute, type Endpoint, endpoint } from '../endpoint/endpoint.ts';
import { success } from '../endpoint/responses.ts';
import { namesOf } from '../../core/schemas/names.ts';
import type { Resource } from '../../core/schemas/resource.ts';
import { hasTags, tags } from '../../core/schemas/tags.ts';
import type { Service } from '../../core/service.ts';
import { answerWrite } from './answer-write.ts';
import { tagIdsOf } from '../../domain/records/tag-usage.ts';
import { existingRecord, updateRecord } from '../../domain/records/write.ts';

/** The routes that add a tag to a record and remove it; none if the records have no tags. */
export function tagRoutes(service: Service, resource: Resource): ApiRoute[] {
	if (!hasTags(resource)) return [];
	const { Singular, singular, withArticle } = namesOf(resource);
	const tagEndpoint = (
		about: Pick<Endpoint, 'method' | 'id' | 'summary'>,
		retag: (ids: string[], tagId: string) => string[],
	): ApiRoute =>
		endpoint({
			...about,
			path: `/v1/${resource.name}/{id}/tags/{tag_id}`,
			tag: resource.name,
			ifMatch: true,
			answers: { 200: success(`The ${singular} with its tags.`, Singular, 'ETag') },
			handle: (c) =>
				answerWrite(service, resource, c, false, (context) => {
					const { store } = context;
					const id = c.req.param('id')!;
					const ids = tagIdsOf(existingRecord(store, resource, id));
					const tag = existingRecord(store, tags, c.req.param('tag_id')!);
					const change = { tag_ids: retag(ids, tag.id) };
					return updateRecord(context, id, change, c.req.header('If-Match'));
				}),
		});
	return [
		tagEndpoint({ method: 'PUT', id: `tag${Singular}`, summary: `Add a tag to ${withArticle}` }, (ids, tag) => [
			...new Set([...ids, tag]),
		]),
		tagEndpoint({ method: 'DELETE', id: `untag${Singular}`, summary: `Remove a tag from ${withArticle}` }, (ids, tag) =>
			ids.filter((id) => id !== tag),
		),
	];
}
