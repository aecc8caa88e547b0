import type { IDataObject } from 'n8n-workflow';

import type { Query } from '../http/path';
import type { ListDescription } from '../openapi/listing';

/** A field by which a list is sorted. */
interface SortKey {
	field: string;
	direction: 1 | -1;
}

/** The order of a list, in the end by ID; empty if the service does not name it. */
export function sortKeysOf({ sort }: Pick<ListDescription, 'sort'>, query: Query): SortKey[] {
	const names = String((sort && query[sort.name]) ?? sort?.default ?? '').split(',').filter((name) => name !== '');
	const keys = names.map((name): SortKey => ({ field: name.replace(/^-/, ''), direction: name.startsWith('-') ? -1 : 1 }));
	return keys.length > 0 ? [...keys, { field: 'id', direction: keys.at(-1)!.direction }] : [];
}

/**
 * Reads several lists of the same order as one list, which has each record once. Without an order, the lists follow one
 * after another.
 *
 * @param lists the lists, in parts
 */
export async function* unionOf(lists: Array<AsyncIterable<IDataObject[]>>, order: SortKey[]): AsyncGenerator<IDataObject[], void> {
	const readIds = new Set<string>();
	let part: IDataObject[] = [];
	const heads = await Promise.all(lists.map(async (list) => await nextHead({ parts: list[Symbol.asyncIterator](), part: [], index: 0 })));
	for (let left = heads.filter(hasRecord); left.length > 0; left = left.filter(hasRecord)) {
		const first = left.reduce((least, head) => (compare(recordOf(head)!, recordOf(least)!, order) < 0 ? head : least));
		const record = recordOf(first)!;
		const { size } = readIds;
		if (readIds.add(String(record.id)).size > size && part.push(record) === partSize) {
			yield part;
			part = [];
		}
		first.index += 1;
		await nextHead(first);
	}
	yield part;
}

/** Number of records that are returned together. */
const partSize = 500;

interface Head {
	parts: AsyncIterator<IDataObject[]>;
	part: IDataObject[];
	index: number;
}

const recordOf = ({ part, index }: Head): IDataObject | undefined => part[index];
const hasRecord = (head: Head): boolean => recordOf(head) !== undefined;

async function nextHead(head: Head): Promise<Head> {
	while (!hasRecord(head)) {
		const next = await head.parts.next();
		if (next.done === true) break;
		Object.assign(head, { part: next.value, index: 0 });
	}
	return head;
}

/** Empty values come first, and text is ordered as people read it. */
function compare(a: IDataObject, b: IDataObject, order: SortKey[]): number {
	for (const { field, direction } of order) {
		const [first, second] = [a[field] ?? null, b[field] ?? null];
		if (first === second) continue;
		if (first === null || second === null) return first === null ? -direction : direction;
		const areNumbers = typeof first === 'number' && typeof second === 'number';
		const difference = areNumbers ? first - second : collator.compare(String(first), String(second));
		if (difference !== 0) return direction * difference;
	}
	return 0;
}

const collator = new Intl.Collator('en');
