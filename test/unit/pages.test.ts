import { readPages, type PageWalk } from '../../nodes/CrmPlatform/api/lists/pages';
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

test('all records come in pages of the largest size', async () => {
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

test('a list that is shorter than the limit ends where it ends', async () => {
	expect((await read(3, { limit: 10 })).ids).toEqual(upTo(3));
});

test('an empty list is one request', async () => {
	expect(await read(0)).toEqual({ ids: [], sizes: [500] });
});

test('a walk goes on from a cursor', async () => {
	expect((await read(10, { cursor: '7' })).ids).toEqual([7, 8, 9]);
});

test('a service that names no page size is asked for none', async () => {
	const { send, requests } = listOf(0);
	const walk = readPages(send, { path: '/v1/contacts', list: { cursor: 'cursor' }, query: {} });
	await walk.next();
	expect(requests[0]?.query).toEqual({ cursor: undefined });
});
