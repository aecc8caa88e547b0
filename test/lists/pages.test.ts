import { readPages, type PageWalk } from '../../nodes/CrmPlatform/api/lists/pages';
import type { Connection } from '../../nodes/CrmPlatform/api/connection';
import type { ApiRequest } from '../../nodes/CrmPlatform/api/http/request';
import { collectionPathsOf } from '../../nodes/CrmPlatform/lookUp/lookUp';

/** A list of `total` records, and the requests it was read with. */
function listOf(total: number) {
	const requests: ApiRequest[] = [];
	const send = async (request: ApiRequest) => {
		requests.push(request);
		const from = Number(request.query?.cursor ?? 0);
		const to = Math.min(total, from + Number(request.query?.limit));
		const data = Array.from({ length: to - from }, (_, i) => ({ id: from + i }));
		const body = { data, next_cursor: to < total ? String(to) : null, total };
		return { status: 200, headers: {}, body };
	};
	return { send, requests };
}

async function read(total: number, walk: Partial<PageWalk> = {}) {
	const { send, requests } = listOf(total);
	const list = { cursor: 'cursor', pageSize: { name: 'limit', maximum: 500 } };
	const ids: unknown[] = [];
	for await (const page of readPages(send, { path: '/contacts', list, query: {}, ...walk })) {
		ids.push(...page.records.map(({ id }) => id));
	}
	return { ids, sizes: requests.map(({ query }) => query?.limit) };
}

const upTo = (length: number) => Array.from({ length }, (_, i) => i);

test('all records are read in pages of the largest size', async () => {
	expect(await read(1200)).toEqual({ ids: upTo(1200), sizes: [500, 500, 500] });
});

test.each([
	[1, [1]],
	[500, [500]],
	[501, [251, 251]],
	[600, [300, 300]],
	[1001, [334, 334, 334]],
])('a limit of %i is read with as few pages as it needs, all of one size', async (limit, sizes) => {
	expect(await read(2000, { limit })).toEqual({ ids: upTo(limit), sizes });
});

test('reading continues from a cursor', async () => {
	expect((await read(10, { cursor: '7' })).ids).toEqual([7, 8, 9]);
});

test('the collections of all custom objects are found, more of them than a person could choose from, too', async () => {
	const list = { cursor: 'cursor', pageSize: { name: 'limit', maximum: 500 } };
	const api = { send: listOf(1001).send, describe: async () => ({ list }) } as unknown as Connection;
	expect(await collectionPathsOf(api, { path: '/custom-objects/{key}/records' })).toHaveLength(1001);
});

test('a service that names no page size gets none', async () => {
	const { send, requests } = listOf(0);
	const walk = readPages(send, { path: '/contacts', list: { cursor: 'cursor' }, query: {} });
	await walk.next();
	expect(requests[0]?.query).toEqual({ cursor: undefined });
});

/** Reads a list whose answers are `page(cursor)`, up to `limit`. */
async function readAnswers(
	page: (query: Record<string, unknown>) => { data: unknown[]; next_cursor?: string | null; total?: number },
	more: Partial<PageWalk> = {},
) {
	const send = async ({ query = {} }: ApiRequest) => ({ status: 200, headers: {}, body: page(query) });
	const walk = { path: '/contacts', list: { cursor: 'cursor' }, query: {}, ...more };
	const ids: unknown[] = [];
	for await (const { records } of readPages(send, walk)) ids.push(...records.map(({ id }) => id));
	return ids;
}
const some = (...ids: number[]) => ids.map((id) => ({ id }));

describe('a service that ignores the cursor is detected', () => {
	test.each([
		['and repeats its own', () => 'again'],
		['and makes a new one each time', (() => { let pageCount = 0; return () => String((pageCount += 1)); })()],
	])('%s', async (_, next) => {
		const page = () => ({ data: some(1, 2, 3), next_cursor: next() });
		await expect(readAnswers(page)).rejects.toThrow('same page');
		await expect(readAnswers(page, { limit: 6 })).rejects.toThrow('same page');
	});

	test('while others add records at the front', async () => {
		let newest = 10;
		const page = () => {
			newest += 1;
			return { data: some(newest, newest - 1, newest - 2, newest - 3), next_cursor: String(newest) };
		};
		await expect(readAnswers(page)).rejects.toThrow('same page');
	});
});

test('pages that stay empty endlessly end the reading with an error', async () => {
	let pageCount = 0;
	const page = () => ({ data: [], next_cursor: String((pageCount += 1)) });
	await expect(readAnswers(page)).rejects.toThrow('never end');
});

test('a record that moves forward in the order of the list while it is read is returned once', async () => {
	const pages = [some(1, 2, 3), some(4, 5, 1), some(2)];
	const page = ({ cursor = 0 }) => ({
		data: pages[Number(cursor)] ?? [],
		next_cursor: Number(cursor) < 2 ? String(Number(cursor) + 1) : null,
	});
	expect(await readAnswers(page)).toEqual([1, 2, 3, 4, 5]);
});

describe('a list that changes while it is read', () => {
	/** A list, newest change first, of which `change` is called before each page after the first. */
	const changing = (change: (records: number[], page: number) => number[]) => {
		let records = Array.from({ length: 9 }, (_, i) => i);
		let pages = 0;
		return ({ cursor = -1 }: Record<string, unknown>) => {
			if ((pages += 1) > 1) records = change(records, pages);
			const start = records.indexOf(Number(cursor)) + 1;
			const data = records.slice(start, start + 3);
			return { data: some(...data), next_cursor: start + 3 < records.length ? String(data.at(-1)) : null, total: records.length };
		};
	};
	const front = (id: number) => (records: number[]) => [id, ...records.filter((other) => other !== id)];

	test('is complete: a record that moved to a page that was already read comes last', async () => {
		expect(await readAnswers(changing(front(8)))).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
	});

	test('is complete with the records added meanwhile', async () => {
		const ids = await readAnswers(changing((records, page) => (page < 4 ? [100 + page, ...records] : records)));
		expect(ids).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8, 103, 102]);
	});

	test('is without the records added meanwhile if records keep their places', async () => {
		const ids = await readAnswers(changing((records, page) => [100 + page, ...records.filter((id) => id !== 7)]), { isFixed: true });
		expect(ids).toEqual([0, 1, 2, 3, 4, 5, 6, 8]);
	});

	test.each([9, 6])('is read up to a limit of %i if its reading was cut off, whether or not records keep their places', async (limit) => {
		const answers = changing((records) => records);
		let pages = 0;
		const cutOffTwice = (query: Record<string, unknown>) =>
			[2, 5].includes((pages += 1)) ? { data: [], next_cursor: null, total: 9 } : answers(query);
		expect(await readAnswers(cutOffTwice, { isFixed: true, limit })).toEqual(upTo(limit));
	});

	test('faster than it can be read is refused', async () => {
		await expect(readAnswers(changing((records, page) => [100 + page, ...records]))).resolves.toHaveLength(12);
		const endless = changing((records, page) => [...[1, 2, 3, 4].map((n) => page * 100 + n), ...records]);
		await expect(readAnswers(endless)).rejects.toThrow('Sort it by the time of creation');
	});
});
