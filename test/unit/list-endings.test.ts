import * as fc from 'fast-check';

import { endingOf, type ReadSoFar } from '../../nodes/CrmPlatform/api/lists/ending';
import { readPage } from '../../nodes/CrmPlatform/api/lists/page';
import { readPages } from '../../nodes/CrmPlatform/api/lists/pageWalk';
import { randomRuns } from '../random-runs.ts';
import { describeContacts, listWith, query } from './described-document.ts';
import { listOf, pagingDialects, sendOf, type PagingDialect } from './paging-dialects.ts';

/** The records that were read; the error, if there was one. */
async function read(dialect: PagingDialect): Promise<number[] | Error> {
	const numbers: number[] = [];
	try {
		const walk = { path: '/v1/contacts', list: listOf(dialect), query: {} };
		for await (const { records } of readPages(sendOf(dialect), walk)) numbers.push(...records.map(({ number }) => Number(number)));
	} catch (error) {
		return error as Error;
	}
	return numbers;
}

const runs = randomRuns(500);
const range = (total: number) => Array.from({ length: total }, (_, i) => i);

test('whatever the dialect of a list, everything is read or the user is warned', async () => {
	await fc.assert(
		fc.asyncProperty(pagingDialects, async (dialect) => {
			// A service that reports the end too early, and no total, cannot be detected.
			fc.pre(dialect.window === Infinity || dialect.totalAt?.[0] === 'total');
			// Nor can a list with one record per page that never announces more: it looks like a list of one record.
			fc.pre(
				dialect.maxPageSize > 1 ||
					dialect.isSizeStated ||
					dialect.place !== 'nowhere' ||
					dialect.flag !== undefined ||
					dialect.totalAt !== undefined,
			);
			const numbers = await read(dialect);
			if (numbers instanceof Error) {
				expect(numbers.message).not.toMatch(/base URL/);
				return;
			}
			expect(numbers).toEqual(range(dialect.total));
		}),
		runs,
	);
});

test('a list is read, not refused, if its cursor has its usual place or one that the description names', async () => {
	const understood = pagingDialects.filter(
		({ place, isLinked, window, flag }) =>
			window === Infinity &&
			flag?.[0] !== 'incomplete_results' &&
			(String(place) === 'next_cursor' || ((Array.isArray(place) || place === 'header') && isLinked)),
	);
	await fc.assert(
		fc.asyncProperty(understood, async (dialect) => {
			// A page without a cursor that cannot be distinguished from one that was cut off.
			const isLeftOut = dialect.last === 'absent' || dialect.place === 'header';
			fc.pre(
				!isLeftOut ||
					dialect.totalAt?.[0] === 'total' ||
					dialect.flag !== undefined ||
					(dialect.sizeParameter !== 'how_many' && dialect.sizeParameter !== undefined && dialect.maxPageSize > 1),
			);
			expect(await read(dialect)).toEqual(range(dialect.total));
		}),
		runs,
	);
});

describe('a page that is not the last is never treated as the last:', () => {
	const answers = (body: object, headers: Record<string, string> = {}) => async () => ({ status: 200, headers, body });
	const list = listWith(query('cursor', {}));
	const data = [{ id: 'a' }, { id: 'b' }];

	test.each<[string, object]>([
		['has_more', { has_more: true }],
		['has_more beside null', { next_cursor: null, has_more: true }],
		['total beside null', { next_cursor: null, total: 9 }],
		['total as text', { total: '9' }],
		['paging.next', { paging: { next: { link: 'https://x.example?page=2' } } }],
		['total_pages', { page: 1, total_pages: 4 }],
		['links with rel', { links: [{ rel: 'self', href: '/a' }, { rel: 'next', href: '/b' }] }],
		['a cursor that is an object', { next_cursor: { after: 'b' } }],
		['nothing', {}],
	])('%s', async (_, more) => {
		const read = readPage(answers({ data, ...more }), '/v1/contacts', { list, query: {} });
		await expect(read).rejects.toThrow(/\/v1\/contacts/);
		await expect(read).rejects.not.toThrow(/base URL/);
	});

	test.each([
		'<https://x.example/v1/contacts?page=2>; rel="next"',
		'<?cursor=b>; rel=next; anchor="/other"',
		'<?cursor=b>; rel=next, <?cursor=c>; rel=next',
		'</v1/contacts?cursor=b> rel="next"',
	])('a Link header that is not understood: %s', async (link) => {
		const send = answers({ data, next_cursor: null }, { link });
		await expect(readPage(send, '/v1/contacts', { list, query: {} })).rejects.toThrow('Link header');
	});

	test.each<[string, number, Record<string, string>, RegExp]>([
		['X-Total-Count', 200, { 'x-total-count': '250' }, /has 250 records/],
		['X-Total', 200, { 'x-total': '3' }, /has 3 records/],
		['Content-Range', 200, { 'content-range': 'items 0-1/250' }, /has 250 records/],
		['a range without a unit', 206, { 'content-range': '0-1/250' }, /has 250 records/],
		['206', 206, {}, /status 206/],
		['206 with a range of unknown length', 206, { 'content-range': 'items 0-1/*' }, /Content-Range/],
		['X-Has-More', 200, { 'x-has-more': 'true' }, /has-more/],
		['X-Next-Page', 200, { 'x-next-page': '2' }, /next-page/],
		['X-Pagination', 200, { 'x-pagination': '{"HasNext":true}' }, /pagination\.HasNext/],
	])('a header of a list with and without parameters for pages, and with a cursor of null: %s', async (_, status, headers, message) => {
		for (const described of [list, listWith()]) {
			for (const body of [{ data }, { data, next_cursor: null }]) {
				const send = async () => ({ status, headers, body });
				await expect(readPage(send, '/v1/contacts', { list: described, query: {} })).rejects.toThrow(message);
			}
		}
	});

	test.each<[string, object]>([
		['two parameters', { after: '$response.body#/spot/id', since: '$response.body#/spot/time' }],
		['an expression of several parts', { after: '{$response.body#/spot/id}-{$response.body#/spot/time}' }],
	])('a link that is not understood, in %s', async (_, parameters) => {
		const names = ['after', 'since', 'cursor'].map((name) => query(name, {}));
		const linked = describeContacts({ parameters: names, responses: { 200: { links: { next: { parameters } } } } }).list;
		const page = (next: object) =>
			readPage(answers({ data, next_cursor: null, marks: 1, ...next }), '/v1/contacts', { list: linked, query: {} });
		await expect(page({ spot: { id: 'b', time: '2026-01-01' } })).rejects.toThrow('a link of its API description');
		expect((await page({ spot: { id: null, time: null } })).next).toBeUndefined();
	});
});

test('a list without pages is read as it is returned', async () => {
	const list = listWith();
	const send = async () => ({ status: 200, headers: {}, body: { data: [{ id: 'a' }, { id: 'b' }] } });
	expect((await readPage(send, '/v1/contacts', { list, query: {} })).records).toHaveLength(2);
});

const soFar: ReadSoFar = {
	received: 10, read: 10, firstTotal: undefined, changes: 0, largestPageSize: 10, isFirst: true, hadCursor: false,
	isFull: true, isRepeated: false, isPaged: true, canBeSmaller: true, leavesCursorOut: false,
};

test.each<[string, Parameters<typeof endingOf>[0], Partial<ReadSoFar>, ReturnType<typeof endingOf>]>([
	['a cursor', { cursor: 'a', isLast: false }, {}, { next: 'a' }],
	['the cursor of this page', { cursor: 'a', isLast: false }, { isRepeated: true }, 'endless'],
	['the cursor of this page, which is empty', { cursor: 'a', isLast: false }, { isRepeated: true, received: 0 }, 'end'],
	['a cursor of null', { cursor: null, isLast: false }, {}, 'end'],
	['a cursor of null, and a higher total', { cursor: null, isLast: false, total: 11 }, {}, { unclear: 'total', read: 10 }],
	[
		'a cursor of null, and a higher total because others write', { cursor: null, isLast: false, total: 11 },
		{ isFirst: false, firstTotal: 9, isFull: false }, 'end',
	],
	[
		'a cursor of null, if every page reported a higher total, and this one is full', { cursor: null, isLast: false, total: 30 },
		{ isFirst: false, firstTotal: 30 }, { unclear: 'total', read: 10 },
	],
	['no cursor', { cursor: undefined, isLast: false }, {}, 'ask'],
	[
		'no cursor after pages with cursors, and few records', { cursor: undefined, isLast: false },
		{ isFirst: false, hadCursor: true, isFull: false }, 'end',
	],
	['no cursor, and all records were read', { cursor: undefined, isLast: false, total: 10 }, {}, 'end'],
	['no cursor, and a flag that says it is the last', { cursor: undefined, isLast: true }, {}, 'end'],
	[
		'no cursor, if no smaller page can be requested', { cursor: undefined, isLast: false }, { canBeSmaller: false },
		{ unclear: 'next_cursor' },
	],
])('how a list ends is decided after a page with %s', (_, continuation, more, ending) => {
	expect(endingOf(continuation, { ...soFar, ...more })).toEqual(ending);
});
