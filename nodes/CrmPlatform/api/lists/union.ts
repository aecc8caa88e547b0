import type { IDataObject } from 'n8n-workflow';

import { rfc3339 } from '../../values/dates';
import type { Query } from '../http/path';
import type { ListDescription } from '../openapi/listing';

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

/** Number of records that are returned together. */
const pageSize = 500;

/**
 * Reads several lists of the same order as one list, which has each record once. Without an order, the lists follow one
 * after another.
 *
 * @param isLimited whether only the first records are used: in an order other than that of `compareRecords`, these would be others
 * @throws Error in the user's words if they would be
 */
export async function* unionOf(lists: Array<AsyncIterable<IDataObject[]>>, order: SortKey[], isLimited = false): AsyncGenerator<IDataObject[], void> {
	const readIds = new Set<string>();
	let page: IDataObject[] = [];
	let heads = (await Promise.all(lists.map(async (list) => await headOf(list[Symbol.asyncIterator]())))).flat();
	// Also after the other lists have ended: their records were put in place by the same order.
	const needsOrder = isLimited && heads.length > 1;
	while (heads.length > 0) {
		const first = heads.reduce((least, head) => (compareRecords(head.record, least.record, order) < 0 ? head : least));
		const { size } = readIds;
		if (readIds.add(String(first.record.id)).size > size && page.push(first.record) === pageSize) {
			yield page;
			page = [];
		}
		const next = await headOf(first.pages, first.page);
		// Records with the same values may come in any order.
		if (needsOrder && next.some(({ record }) => compareRecords(first.record, record, order.slice(0, -1)) > 0)) throw otherOrder(order[0]!.field);
		heads = heads.flatMap((head) => (head === first ? next : [head]));
	}
	yield page;
}

/** The next record of a list, and those after it: of its page, and further pages. */
interface Head {
	record: IDataObject;
	page: Iterator<IDataObject, unknown>;
	pages: AsyncIterator<IDataObject[], unknown>;
}

async function headOf(pages: Head['pages'], page: Head['page'] = [].values()): Promise<Head[]> {
	const next = page.next();
	if (next.done !== true) return [{ record: next.value, page, pages }];
	const further = await pages.next();
	return further.done === true ? [] : await headOf(pages, further.value.values());
}

const otherOrder = (field: string): Error =>
	new Error(`The CRM sorts ${field} in an order of its own, so of filters joined by Or, the first records are not known. Turn on Return All, or choose another Sort.`);

/** Empty values come first, and text is ordered as people read it, regardless of case and accents. */
export function compareRecords(a: IDataObject, b: IDataObject, order: SortKey[]): number {
	for (const { field, direction } of order) {
		const [first, second] = [comparable(a[field]), comparable(b[field])];
		if (first === second) continue;
		if (first === null || second === null) return first === null ? -direction : direction;
		const areNumbers = typeof first === 'number' && typeof second === 'number';
		const difference = areNumbers ? first - second : collator.compare(String(first), String(second));
		if (difference !== 0) return direction * difference;
	}
	return 0;
}

/** Times in UTC, without the zeros at the end of fractions of a second, which some services leave out: `2026-03-31T08:00:00.25`. */
function comparable(value: unknown): unknown {
	const time = typeof value === 'string' && rfc3339.test(value) ? Date.parse(value) : NaN;
	if (Number.isNaN(time)) return value ?? null;
	const [, fraction = ''] = /(\.\d*[1-9])/.exec(String(value)) ?? [];
	return new Date(time).toISOString().slice(0, -'.000Z'.length) + fraction;
}

const collator = new Intl.Collator('en', { sensitivity: 'base' });
