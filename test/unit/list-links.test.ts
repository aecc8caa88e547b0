import type { ApiRequest } from '../../nodes/CrmPlatform/api/http/request';
import { readPage } from '../../nodes/CrmPlatform/api/lists/page';
import { readPages } from '../../nodes/CrmPlatform/api/lists/pageWalk';
import { describeContacts, listWith, query } from './described-document.ts';

test.each([
	'</v1/contacts?cursor=b>; rel="next"',
	'<?cursor=b>; rel=next',
	'<?cursor=b>; REL="NEXT last"',
	'<https://x.example/?cursor=a>; rel="prev"; title="a, b; rel=next", <https://x.example/?cursor=b>; title="c, \\"d\\""; rel="last next"',
	'<?cursor=a,b>; rel=first , <?cursor=b>; rel=next; title*=UTF-8\'\'x',
	"<?cursor=b>;rel='next'",
])('a Link header is read as RFC 8288 specifies: %s', async (link) => {
	const list = listWith(query('cursor', {}));
	const send = async () => ({ status: 200, headers: { link }, body: { data: [{ id: 'a' }] } });
	expect((await readPage(send, '/v1/contacts', { list, query: {} })).next).toBe('b');
});

test.each(['<?cursor=b>; rel="nextpage"', '<?cursor=b>; rel="prev"; title="next"', '<?cursor=b>; title="rel=next"'])(
	'no other link is treated as the next one: %s',
	async (link) => {
		const list = listWith(query('cursor', {}));
		const send = async () => ({ status: 200, headers: { link }, body: { data: [{ id: 'a' }], next_cursor: null } });
		expect((await readPage(send, '/v1/contacts', { list, query: {} })).next).toBeUndefined();
	},
);

describe('a parameter of a link beside the cursor', () => {
	const names = ['after', 'direction', 'limit'].map((name) => ({
		name, in: 'query', schema: { type: name === 'limit' ? 'integer' : 'string' },
	}));
	const link = { parameters: { after: '$response.body#/next', direction: 'forth', limit: 2, q: '$request.query.q' } };
	const { list } = describeContacts({ parameters: names, responses: { 200: { links: { next: link } } } });
	const queries: Array<ApiRequest['query']> = [];
	const send = async ({ query = {} }: ApiRequest) => {
		queries.push(query);
		const start = Number(query.after ?? 0);
		const isMeant = query.after === undefined || query.direction === 'forth';
		const data = isMeant ? [start, start + 1].map((id) => ({ id })) : [];
		return { status: 200, headers: {}, body: { data, next: start < 4 ? String(start + 2) : null } };
	};
	const readWith = async (query: ApiRequest['query'] = {}) => {
		const ids: unknown[] = [];
		for await (const { records } of readPages(send, { path: '/v1/contacts', list, query })) ids.push(...records.map(({ id }) => id));
		return ids;
	};
	beforeEach(() => (queries.length = 0));

	test('is sent with each further page, and the page size with all pages', async () => {
		expect(await readWith()).toEqual([0, 1, 2, 3, 4, 5]);
		expect(queries).toEqual([{ limit: 2 }, { limit: 2, direction: 'forth', after: '2' }, { limit: 2, direction: 'forth', after: '4' }]);
	});

	test('does not replace the user’s choices: the list is refused', async () => {
		await expect(readWith({ direction: 'back' })).rejects.toThrow('API description');
	});
});
