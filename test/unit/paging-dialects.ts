import * as fc from 'fast-check';

import type { ApiRequest } from '../../nodes/CrmPlatform/api/http/request';
import { describeContacts } from './described-document.ts';

/** How a service reports that a list has more pages, and what its description says about that. */
export interface PagingDialect {
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

export const pagingDialects: fc.Arbitrary<PagingDialect> = fc.record({
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
		fc.constantFrom<[string, boolean][]>(
			['has_more', true], ['hasNextPage', true], ['more', true], ['is_last', false], ['incomplete_results', true],
		),
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

export function listOf(dialect: PagingDialect) {
	const { place, sizeParameter, maxPageSize, isSizeStated } = dialect;
	const pointer = Array.isArray(place) ? place.map((step) => step.replace(/\//g, '~1')).join('/') : undefined;
	const from = place === 'header' ? '$response.header.X-Next' : pointer && `$response.body#/${pointer}`;
	const links = dialect.isLinked && from ? { links: { next: { parameters: { cursor: from } } } } : {};
	const parameters = [
		{ name: 'cursor', in: 'query', schema: { type: dialect.isNumber ? 'integer' : 'string' } },
		...(sizeParameter
			? [{ name: sizeParameter, in: 'query', schema: { type: 'integer', ...(isSizeStated && { maximum: maxPageSize }) } }]
			: []),
	];
	return describeContacts({ parameters, responses: { 200: { description: '', ...links } } }).list;
}

export function sendOf(dialect: PagingDialect) {
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
		const nothing = { null: null, absent: undefined, empty: '', false: false, 'an empty page': null }[last];
		const cursor = dialect.isNumber ? end : String(end);
		const next = isNamed ? cursor : nothing;
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
