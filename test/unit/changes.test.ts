import { readChanges } from '../../nodes/CrmPlatform/api/lists/changes';
import { hashOf, type Watermark } from '../../nodes/CrmPlatform/api/lists/watermark';
import type { ApiRequest } from '../../nodes/CrmPlatform/api/http/request';

const path = '/v1/contacts';
const list = { cursor: 'cursor', pageSize: { name: 'limit', maximum: 2 } };
const changed = { field: 'updated_at', since: 'updated_since' };
const at = (time: string) => `2026-03-01T${time}.000Z`;
const ms = (time: string) => Date.parse(at(time));

/** A mark of everything up to a moment, and of what was given after it. */
const markAt = (time: string, given: Array<[id: string, time: string]> = []): Watermark => ({
	since: ms(time),
	given: Object.fromEntries(given.map(([id, changed]) => [version(id, changed), ms(changed)])),
});
const version = (id: string, time: string) => hashOf({ id, changed: at(time), at: 0 });

/** A service that answers each request with the next of the pages. */
async function read(pages: Array<Array<[id: string, time: string]>>, mark?: Watermark, limit?: number) {
	const requests: ApiRequest[] = [];
	const send = async (request: ApiRequest) => {
		const page = pages[requests.push(request) - 1] ?? [];
		const data = page.map(([id, time]) => ({ id, updated_at: at(time) }));
		const next = requests.length < pages.length ? `page ${requests.length}` : null;
		return { status: 200, headers: {}, body: { data, next_cursor: next, total: 9 } };
	};
	const asked = { path, list, changed, query: {}, limit };
	const changes = await readChanges(send, asked, mark, (one) => one, () => 0);
	return { ...changes, ids: changes.records.map(({ id }) => id), requests };
}

test('reading goes on a minute before the newest record given, by the service’s clock', async () => {
	const { mark } = await read([[['a', '09:00:00'], ['b', '10:00:00']]]);
	const { requests } = await read([[]], mark);
	expect(requests[0]?.query?.updated_since).toBe(at('09:59:00'));
});

test('what was given in that minute is not given again, unless it has changed once more', async () => {
	const mark = markAt('09:59:00', [['a', '09:59:30'], ['b', '10:00:00']]);
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
	const { mark } = await read(
		[[['b', '10:00:50'], ['c', '10:01:30']]],
		markAt('09:59:00', [['a', '10:00:00']]),
	);
	expect(mark).toEqual(markAt('10:00:30', [['b', '10:00:50'], ['c', '10:01:30']]));
});

test('with a limit the mark stands at the last record given', async () => {
	const pages = [[['a', '10:00:00'], ['b', '10:00:01']], [['c', '10:00:01']]] as never;
	const { ids, mark } = await read(pages, markAt('09:59:00', [['a', '10:00:00']]), 1);
	expect(ids).toEqual(['b']);
	expect(mark).toEqual(markAt('09:59:01', [['a', '10:00:00'], ['b', '10:00:01']]));
});

test('without changes the mark stays as it is', async () => {
	expect((await read([[]], markAt('10:00:00'))).mark).toBeUndefined();
	expect((await read([[]])).mark).toBeUndefined();
});

test.each([{ updated_at: at('10:00:00') }, { id: 'a' }, { id: 'a', updated_at: 'now' }])(
	'%j does not say which version it is, and is refused rather than taken for another',
	async (record) => {
		const body = { data: [record], next_cursor: null };
		const send = async () => ({ status: 200, headers: {}, body });
		const reading = readChanges(send, { path, list, changed, query: {} }, undefined, (one) => one);
		await expect(reading).rejects.toThrow('it cannot be told which have changed');
	},
);
