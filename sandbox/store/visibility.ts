import { jobs } from '../schemas/jobs.ts';
import { notes } from '../schemas/notes.ts';
import type { Resource } from '../schemas/resource.ts';
import type { Condition } from './condition.ts';

/**
 * Which records of a resource a user sees who is no administrator:
 * - records with an owner: their own, and those that nobody owns;
 * - notes, which have an author instead: their own, and those without an author;
 * - jobs: their own only, as results hold the records of whoever asked for them;
 * - all else (messages, users, tags, pipelines, custom fields and objects): every one, as all work
 *   with them.
 *
 * @returns conditions that hold for these records
 */
export function visibleTo(userId: string, resource: Resource): Condition[] {
	if (resource.name === jobs.name) {
		return [{ sql: "document ->> '$.created_by.id' = ?", values: [userId] }];
	}
	const owner = resource.name === notes.name ? 'author_id' : 'owner_id';
	if (!(owner in resource.properties)) return [];
	// The plus sign keeps the index on the sort order in use, as in filters.
	return [{ sql: `+"${owner}" IN ('', ?)`, values: [userId] }];
}
