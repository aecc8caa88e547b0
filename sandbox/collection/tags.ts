import type { Resource } from '../schemas/resource.ts';
import { tags } from '../schemas/tags.ts';
import type { Route } from '../http/route.ts';
import type { Service } from '../http/service.ts';
import { queryParameters } from '../http/query.ts';
import { answerWrite } from './requests.ts';
import { tagIdsOf } from '../records/tag-usage.ts';
import { existingRecord, updateRecord } from '../records/write.ts';

/** Puts a single tag on a record and takes it off, for every resource whose records have tags. */
export function tagRoutes(service: Service, resource: Resource): Route[] {
	const path = `/v1/${resource.name}/:id/tags/:tag_id`;

	const change =
		(retag: (ids: string[], tagId: string) => string[]): Route['handler'] =>
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

	return [
		{ method: 'PUT', path, handler: change((ids, tag) => [...new Set([...ids, tag])]) },
		{ method: 'DELETE', path, handler: change((ids, tag) => ids.filter((id) => id !== tag)) },
	];
}
