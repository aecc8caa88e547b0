import * as fc from 'fast-check';

import type { ApiRequest } from '../../nodes/CrmPlatform/api/http/request';
import { endingOf, type ReadSoFar } from '../../nodes/CrmPlatform/api/lists/ending';
import { readPage } from '../../nodes/CrmPlatform/api/lists/page';
import { readPages } from '../../nodes/CrmPlatform/api/lists/pageWalk';
import { randomRuns } from '../random-runs.ts';
import { describeContacts, listWith, query } from './described-document.ts';

/** How a service reports that a list has more pages, and what its description says about that. */
interface PagingDialect {
	total: number;
	maxPageSize: number;
	/** Where an answer has the next cursor. */
	place: string[] | 'Link header' | 'header' | 'nowhere';
	isLinked: boolean;
	isNumber: boolean;
	/** The cursor of the last page. */
	last: 'null' | 'absent' | 'empty' | 'false' | 'an empty page';
	flag: [name: string, whenMore: boolean] | undefined;
	totalAt: string[] | undefined;
	sizeParameter: string | undefined;
	isSizeStated: boolean;
	/** The list ends after this many records, with a cursor of `null`, whatever the total. */
	window: number;
	idsAre: 'text' | 'numbers' | 'null' | 'empty' | 'absent';
}

const dialects: fc.Arbitrary<PagingDialect> = fc.record({
	total: fc.constantFrom(0, 1, 2, 3, 9, 10, 11, 20, 21, 40, 45),
	maxPageSize: fc.constantFrom(1, 2, 5, 10, 20, 100),
	place: fc.constantFrom<PagingDialect['place'][]>(
		['next_cursor'], ['next_cursor'], ['nextCursor'], ['paging', 'next', 'after'], ['meta', 'next_page_token'],
		['links', 'next'], ['response_metadata', 'cursors', 'after'], ['@odata.nextLink'], ['pageInfo', 'endCursor'],
		'Link header', 'header', 'nowhere',
	),
	isLinked: fc.boolean(),
	isNumber: fc.boolean(),
	last: fc.constantFrom('null', 'absent', 'empty', 'false', 'an empty page'),
	flag: fc.option(
		fc.constantFrom<[string, boolean][]>(['has_more', true], ['hasNextPage', true], ['more', true], ['is_last', false], ['incomplete_results', true]),
		{ nil: undefined },
	),
	totalAt: fc.option(fc.constantFrom(['total'], ['meta', 'total_count'], ['count']), { nil: undefined }),
	sizeParameter: fc.constantFrom('limit', 'page_size', 'how_many', undefined),
	isSizeStated: fc.boolean(),
	window: fc.constantFrom(Infinity, Infinity, 20),
	idsAre: fc.constantFrom('text', 'text', 'numbers', 'null', 'empty', 'absent'),
});

const put = (object: Record<string, unknown>, [name = '', ...rest]: string[], value: unknown): void => {
	if (rest.length === 0) object[name] = value;
	else put((object[name] ??= {}) as Record<string, unknown>, rest, value);
};

function listOf(dialect: PagingDialect) {
	const { place, sizeParameter, maxPageSize, isSizeStated } = dialect;
	const from = place === 'header' ? '$response.header.X-Next' : typeof place === 'string' ? undefined : `$response.body#/${place.map((step) => step.replace(/\//g, '~1')).join('/')}`;
	const links = dialect.isLinked && from ? { links: { next: { parameters: { cursor: from } } } } : {};
	const parameters = [
		{ name: 'cursor', in: 'query', schema: { type: dialect.isNumber ? 'integer' : 'string' } },
		...(sizeParameter ? [{ name: sizeParameter, in: 'query', schema: { type: 'integer', ...(isSizeStated && { maximum: maxPageSize }) } }] : []),
	];
	return describeContacts({ parameters, responses: { 200: { description: '', ...links } } }).list;
}

function sendOf(dialect: PagingDialect) {
	const { total, maxPageSize, place, flag, totalAt, last, window } = dialect;
	return async ({ query = {} }: ApiRequest) => {
		const start = Number(query.cursor ?? 0);
		const size = Math.min(maxPageSize, Number(query[dialect.sizeParameter ?? ''] ?? maxPageSize));
		const data = Array.from({ length: Math.max(0, Math.min(size, total - start, window - start)) }, (_, i) => ({
			...{ text: { id: `r${start + i}` }, numbers: { id: start + i }, null: { id: null }, empty: { id: '' }, absent: {} }[dialect.idsAre],
			number: start + i,
		}));
		const end = start + data.length;
		const isMore = end < Math.min(total, window);
		const body: Record<string, unknown> = { data };
		const headers: Record<string, string> = {};
		const isNamed = isMore || (last === 'an empty page' && data.length > 0);
		const next = isNamed ? (dialect.isNumber ? end : String(end)) : { null: null, absent: undefined, empty: '', false: false, 'an empty page': null }[last];
		if (place === 'Link header') {
			if (isNamed) headers.link = `</v1/contacts?cursor=0>; rel="first", </v1/contacts?cursor=${end}>; rel="next"`;
		} else if (place === 'header') {
			if (isNamed) headers['x-next'] = String(end);
		} else if (place !== 'nowhere' && next !== undefined) put(body, place, next);
		// The flag says nothing about records beyond the window.
		if (flag) put(body, [flag[0]], isMore ? flag[1] : !flag[1]);
		if (totalAt) put(body, totalAt, total);
		return { status: 200, headers, body };
	};
}

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
		fc.asyncProperty(dialects, async (dialect) => {
			// A service that reports the end too early, and no total, cannot be detected.
			fc.pre(dialect.window === Infinity || dialect.totalAt?.[0] === 'total');
			// Nor can one whose pages have one record and no sign of more: a list of one record looks the same.
			fc.pre(dialect.maxPageSize > 1 || dialect.isSizeStated || dialect.place !== 'nowhere' || dialect.flag !== undefined || dialect.totalAt !== undefined);
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
	const understood = dialects.filter(
		({ place, isLinked, window, flag }) =>
			window === Infinity && flag?.[0] !== 'incomplete_results' && (String(place) === 'next_cursor' || ((Array.isArray(place) || place === 'header') && isLinked)),
	);
	await fc.assert(
		fc.asyncProperty(understood, async (dialect) => {
			// A page without a cursor that cannot be distinguished from one that was cut off.
			const isLeftOut = dialect.last === 'absent' || dialect.place === 'header';
			fc.pre(!isLeftOut || dialect.totalAt?.[0] === 'total' || dialect.flag !== undefined || (dialect.sizeParameter !== 'how_many' && dialect.sizeParameter !== undefined && dialect.maxPageSize > 1));
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
		const page = (next: object) => readPage(answers({ data, next_cursor: null, marks: 1, ...next }), '/v1/contacts', { list: linked, query: {} });
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
	['a cursor of null, and a higher total because others write', { cursor: null, isLast: false, total: 11 }, { isFirst: false, firstTotal: 9, isFull: false }, 'end'],
	['a cursor of null, if every page reported a higher total, and this one is full', { cursor: null, isLast: false, total: 30 }, { isFirst: false, firstTotal: 30 }, { unclear: 'total', read: 10 }],
	['no cursor', { cursor: undefined, isLast: false }, {}, 'ask'],
	['no cursor after pages with cursors, and few records', { cursor: undefined, isLast: false }, { isFirst: false, hadCursor: true, isFull: false }, 'end'],
	['no cursor, and all records were read', { cursor: undefined, isLast: false, total: 10 }, {}, 'end'],
	['no cursor, and a flag that says it is the last', { cursor: undefined, isLast: true }, {}, 'end'],
	['no cursor, if no smaller page can be requested', { cursor: undefined, isLast: false }, { canBeSmaller: false }, { unclear: 'next_cursor' }],
])('how a list ends is decided after a page with %s', (_, continuation, more, ending) => {
	expect(endingOf(continuation, { ...soFar, ...more })).toEqual(ending);
});
