import type { StoredRecord } from '../core/schemas/resource.ts';
import type { Random } from './random.ts';

/**
 * Assigns owners to records, and tags to some of them.
 *
 * @returns `keep`, which does so, and `usage`, which returns the number of records with a tag
 */
export function ownersAndTags(random: Random, team: StoredRecord[], tags: StoredRecord[]) {
	const usage = new Map<string, number>();
	return {
		*keep(records: Iterable<StoredRecord>): Generator<StoredRecord> {
			for (const record of records) {
				const tagIds = someTags(random, tags);
				for (const id of tagIds) usage.set(id, (usage.get(id) ?? 0) + 1);
				const owner = random.chance(0.85) ? random.pick(team).id : null;
				yield { ...record, ...('owner_id' in record && { owner_id: owner }), tag_ids: tagIds };
			}
		},
		usage: ({ id }: StoredRecord): number => usage.get(id) ?? 0,
	};
}

/** Chooses tags: none for most records, one for some, two for a few. */
function someTags(random: Random, tags: StoredRecord[]): string[] {
	if (random.chance(0.6)) return [];
	const picked = [random.pick(tags), ...(random.chance(0.25) ? [random.pick(tags)] : [])];
	return [...new Set(picked.map(({ id }) => id))];
}
