import type { ListDescription } from '../openapi/listing';
import { readPage, type Page, type Send } from './page';
import type { Query } from '../http/path';

/** One walk over a list. */
export interface PageWalk {
	/** Collection path with version prefix. */
	path: string;
	list: Pick<ListDescription, 'cursor' | 'pageSize'>;
	/** Filters, order and fields: the same for every page, as the cursor is bound to them. */
	query: Query;
	/** How many records are wanted; all where absent. */
	limit?: number;
	/** Where to go on; from the start where absent. */
	cursor?: string;
	/** Asked of each page before the next one is sent for: whether the walk ends with it. */
	endsWith?: (page: Page) => boolean;
}

/**
 * The records of a list, page by page, until they end or `limit` is reached. A page may be empty
 * and still have a next one. The next page is under way while a page is being handled.
 *
 * @throws Error in the user's words when the service's answer is no list, or when it hands out a
 * cursor twice: the walk would never end, or repeat what it had
 */
export async function* readPages(send: Send, walk: PageWalk): AsyncGenerator<Page, void> {
	const { path, limit = Infinity, endsWith = () => false } = walk;
	const query = { ...walk.query, ...sizeOf(walk) };
	const seen = new Set([walk.cursor]);
	let left = limit;

	const request = (cursor: string | undefined) => {
		const page = readPage(send, path, { ...query, [walk.list.cursor]: cursor });
		// Its failure is thrown when its turn comes; until then, Node.js must not take it for unhandled.
		page.catch(() => undefined);
		return page;
	};

	let coming = left > 0 ? request(walk.cursor) : undefined;
	while (coming) {
		const page: Page = await coming;
		const records = page.records.length > left ? page.records.slice(0, left) : page.records;
		left -= records.length;
		const next = endsWith(page) || left <= 0 ? undefined : page.next;
		if (next !== undefined && seen.has(next)) {
			throw new Error(
				`The service gave the same page of ${path} twice, so the list would never end. Nothing is wrong in the workflow: report it to the service’s support.`,
			);
		}
		seen.add(next);
		coming = next === undefined ? undefined : request(next);
		yield { ...page, records };
	}
}

/** The fewest pages of one size: some services bind the cursor to the size of the page. */
function sizeOf({ list, limit = Infinity }: PageWalk): Query {
	if (!list.pageSize) return {};
	const { name, maximum } = list.pageSize;
	const size = limit === Infinity ? maximum : Math.ceil(limit / Math.ceil(limit / maximum));
	return { [name]: size };
}
