import type { Write } from '../model';

/**
 * Groups the indexes of writes that can share a request, since they have the same collection and query. Writes to one
 * collection with different queries may concern one record, so they keep their order.
 */
export function groupByRequest(writes: Array<Write | Error>, indexes: number[]): number[][] {
	const groups: number[][] = [];
	const latest = new Map<string, { query: string; group: number[] }>();
	for (const index of indexes) {
		const write = writes[index];
		if (!write || write instanceof Error) continue;
		const query = JSON.stringify(write.query ?? {});
		const open = latest.get(write.collection);
		if (open?.query === query) {
			open.group.push(index);
			continue;
		}
		const group = [index];
		groups.push(group);
		latest.set(write.collection, { query, group });
	}
	return groups;
}

/** Whether another write of the group changes the same record, which this write would undo if it were sent later. */
export function sharesRecord(write: Write, group: Write[]): boolean {
	const name = nameOf(write);
	return name !== undefined && group.some((other) => other !== write && nameOf(other) === name);
}

/**
 * The records that other writes must not change at the same time. Without batches, additions to a collection keep their
 * order, which may be intended.
 */
export function affectedRecords(write: Write, usesBatches: boolean): string[] {
	if (write.deletion !== undefined) return [];
	const name = nameOf(write);
	if (write.hasOtherNames || (name === undefined && !usesBatches)) return [write.collection];
	return name === undefined ? [] : [name];
}

function nameOf({ collection, id, match }: Write): string | undefined {
	const name = id ?? match;
	return name === undefined ? undefined : `${collection}/${name}`;
}
