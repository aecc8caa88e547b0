import { readChanges, type Mark } from '../../nodes/CrmPlatform/api/changes';
import type { ApiRequest } from '../../nodes/CrmPlatform/api/request';

const path = '/v1/contacts';
const list = { cursor: 'cursor', pageSize: { name: 'limit', maximum: 2 } };
const changed = { field: 'updated_at', since: 'updated_since' };
const at = (time: string) => `2026-03-01T${time}.000Z`;

/** A service that answers each request with the next of the pages. */
async function read(pages: Array<Array<[id: string, time: string]>>, mark?: Mark, limit?: number) {
	const requests: ApiRequest[] = [];
	const send = async (request: ApiRequest) => {
		const page = pages[requests.push(request) - 1] ?? [];
		const data = page.map(([id, time]) => ({ id, updated_at: at(time) }));
		const next = requests.length < pages.length ? `page ${requests.length}` : null;
		return { status: 200, headers: {}, body: { data, next_cursor: next, total: 9 } };
	};
	const asked = { path, list, changed, query: {}, limit };
	const changes = await readChanges(send, asked, mark, (one) => one);
	return { ...changes, ids: changes.records.map(({ id }) => id), requests };
}

test('reading goes on a minute before the newest record given, by the service’s clock', async () => {
	const { requests } = await read([[]], { newest: at('10:00:00'), given: {} });
	expect(requests[0]?.query?.updated_since).toBe(at('09:59:00'));
});

test('what was given in that minute is not given again, unless it has changed once more', async () => {
	const mark = { newest: at('10:00:00'), given: { a: at('09:59:30'), b: at('10:00:00') } };
	const { ids } = await read([[['a', '09:59:30'], ['late', '09:59:40']], [['b', '10:00:20']]], mark);
	expect(ids).toEqual(['late', 'b']);
});

test('a record that changes while it is being read comes once, as it is then', async () => {
	const { records } = await read([[['a', '10:00:00'], ['b', '10:00:01']], [['a', '10:00:02']]]);
	expect(records).toEqual([
		{ id: 'b', updated_at: at('10:00:01') },
		{ id: 'a', updated_at: at('10:00:02') },
	]);
});

test('the mark forgets what is older than the overlap', async () => {
	const old = { newest: at('10:00:00'), given: { a: at('10:00:00') } };
	const { mark } = await read([[['b', '10:00:50'], ['c', '10:01:30']]], old);
	expect(mark).toEqual({
		newest: at('10:01:30'),
		given: { b: at('10:00:50'), c: at('10:01:30') },
	});
});

test('with a limit the mark stands at the last record given', async () => {
	const known = { newest: at('10:00:00'), given: { a: at('10:00:00') } };
	const pages = [[['a', '10:00:00'], ['b', '10:00:01']], [['c', '10:00:01']]] as never;
	const { ids, mark } = await read(pages, known, 1);
	expect(ids).toEqual(['b']);
	expect(mark?.newest).toBe(at('10:00:01'));
	expect(mark?.given).not.toHaveProperty('c');
});

test('without changes the mark stays as it is', async () => {
	const { mark } = await read([[]], { newest: at('10:00:00'), given: {} });
	expect(mark).toBeUndefined();
});
