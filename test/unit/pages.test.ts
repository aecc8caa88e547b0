import { readPages, type PageWalk } from '../../nodes/CrmPlatform/api/lists/pageWalk';
import type { ApiRequest } from '../../nodes/CrmPlatform/api/http/request';

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
	for await (const page of readPages(send, { path: '/v1/contacts', list, query: {}, ...walk })) {
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

test('a list that is shorter than the limit ends at its last record', async () => {
	expect((await read(3, { limit: 10 })).ids).toEqual(upTo(3));
});

test('an empty list needs one request', async () => {
	expect(await read(0)).toEqual({ ids: [], sizes: [500] });
});

test('reading continues from a cursor', async () => {
	expect((await read(10, { cursor: '7' })).ids).toEqual([7, 8, 9]);
});

test('a service that names no page size gets none', async () => {
	const { send, requests } = listOf(0);
	const walk = readPages(send, { path: '/v1/contacts', list: { cursor: 'cursor' }, query: {} });
	await walk.next();
	expect(requests[0]?.query).toEqual({ cursor: undefined });
});

/** Reads a list whose answers are `page(cursor)`, up to `limit`. */
async function readAnswers(
	page: (query: Record<string, unknown>) => { data: unknown[]; next_cursor?: string | null; total?: number },
	limit?: number,
) {
	const send = async ({ query = {} }: ApiRequest) => ({ status: 200, headers: {}, body: page(query) });
	const walk = { path: '/v1/contacts', list: { cursor: 'cursor' }, query: {}, ...(limit && { limit }) };
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
		await expect(readAnswers(page, 6)).rejects.toThrow('same page');
	});

	test('while others add records at the front', async () => {
		let newest = 10;
		const page = () => {
			newest += 1;
			return { data: some(newest, newest - 1, newest - 2, newest - 3), next_cursor: String(newest) };
		};
		await expect(readAnswers(page)).rejects.toThrow('same page');
	});

	test('if records have no ids', async () => {
		let pageCount = 0;
		const page = () => ({ data: [{ email: 'a@pages.example' }], next_cursor: String((pageCount += 1)) });
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

test('a first page that leads to no other is refused if the list has more records', async () => {
	await expect(readAnswers(() => ({ data: some(1, 2), total: 40 }))).rejects.toThrow('40 records, but the CRM returned only 2');
	expect(await readAnswers(() => ({ data: some(1, 2), total: 2 }))).toEqual([1, 2]);
});

test.each([[[1]], [['text']], [[[1]]], [[null]]])('%j is not accepted as records', async (data) => {
	await expect(readAnswers(() => ({ data, next_cursor: null }))).rejects.toThrow('list of records');
});
