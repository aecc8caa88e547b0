import type { StoredRecord } from '../../core/schemas/resource.ts';
import { tags } from '../../core/schemas/tags.ts';
import type { StoreView } from '../../core/store/visibility/visible-store.ts';

/**
 * Updates the usage counts of tags for a written record.
 *
 * @param before undefined for a new record
 * @param after undefined for a deleted one
 */
export function countTags(store: StoreView, before?: StoredRecord, after?: StoredRecord): void {
	const [had, has] = [new Set(tagIdsOf(before)), new Set(tagIdsOf(after))];
	const table = store.table(tags.name)!;
	const add = (id: string, count: number) => {
		const tag = table.find(id);
		if (tag) table.save({ ...tag, usage: Number(tag['usage']) + count });
	};
	for (const id of has) if (!had.has(id)) add(id, 1);
	for (const id of had) if (!has.has(id)) add(id, -1);
}

/** The ids of a record's tags; none if its resource has no tags. */
export const tagIdsOf = (record: StoredRecord | undefined): string[] =>
	(record?.['tag_ids'] as string[] | undefined) ?? [];
