import { jobs } from '../schemas/jobs.ts';
import { notes } from '../schemas/notes.ts';
import type { Resource, StoredRecord } from '../schemas/resource.ts';
import { webhooks } from '../schemas/webhooks.ts';
import type { Condition } from './condition.ts';

/** Resources whose records only those see who made them: these hold, or send, what they may see. */
const personal = [jobs.name, webhooks.name];

/** The field that says whose a record is; undefined where every one is everybody's. */
function ownerField({ name, properties }: Resource): 'owner_id' | 'author_id' | undefined {
	const owner = name === notes.name ? 'author_id' : 'owner_id';
	return owner in properties ? owner : undefined;
}

/**
 * Which records of a resource a user sees who is no administrator:
 * - records with an owner: their own, and those that nobody owns;
 * - notes, which have an author instead: their own, and those without an author;
 * - jobs and webhooks: those that they made, only;
 * - all else (messages, users, tags, pipelines, custom fields and objects): every one, as all work
 *   with them.
 *
 * @returns conditions that hold for these records
 */
export function visibleTo(userId: string, resource: Resource): Condition[] {
	if (personal.includes(resource.name)) {
		return [{ sql: "document ->> '$.created_by.id' = ?", values: [userId] }];
	}
	const owner = ownerField(resource);
	// The plus sign keeps the index on the sort order in use, as in filters.
	return owner ? [{ sql: `+"${owner}" IN ('', ?)`, values: [userId] }] : [];
}

/** The user who alone sees a record, beside administrators; empty if every user sees it. */
export function ownerOf(resource: Resource, record: StoredRecord): string {
	if (personal.includes(resource.name)) return (record['created_by'] as { id: string }).id;
	const owner = ownerField(resource);
	return (owner && (record[owner] as string | null)) ?? '';
}
