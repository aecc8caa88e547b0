import { contacts } from '../../../sandbox/core/schemas/contacts.ts';
import { sortableFields } from '../../../sandbox/domain/queries/list-query.ts';
import { inProcess } from '../harness/in-process.ts';

const sorts = sortableFields(contacts).flatMap((field) => [field, `-${field}`]);

test.each([...sorts, '-updated_at,id', 'lifecycle_stage,-name', '-lifecycle_stage,last_name,-id'])(
	'reading by %s returns every record once, in order, including ties and absent values',
	async (sort) => {
		const { all } = inProcess({ contacts: 60 });
		const walked = await all(`/v1/contacts?limit=7&sort=${sort}`);
		const sorted = await all(`/v1/contacts?limit=500&sort=${sort}`);
		expect(walked).toEqual(sorted);
		expect(new Set(walked.map(({ id }) => id)).size).toBe(60);

		const [first = ''] = sort.split(',');
		const keys = walked.map((record) => record[first.replace('-', '')] ?? '');
		const { compare } = new Intl.Collator('en', { sensitivity: 'base' });
		const isText = /name/.test(first);
		const inOrder = [...keys].sort((a, b) => (isText ? compare(a, b) : a < b ? -1 : Number(a > b)));
		expect(keys).toEqual(first.startsWith('-') ? inOrder.reverse() : inOrder);
	},
);

test('reading returns every record once while others write', async () => {
	const { get, post, patch, delete: remove, all } = inProcess({ contacts: 100 });
	const before = (await all('/v1/contacts?limit=500')).map(({ id }) => id);
	const removed = before[90];
	const seen: string[] = [];
	let cursor: string | null = '';
	while (cursor !== null) {
		const page = await get(`/v1/contacts?limit=10${cursor && `&cursor=${cursor}`}`);
		seen.push(...page.body.data.map(({ id }: { id: string }) => id));
		cursor = page.body.next_cursor;
		if (seen.length <= 50) {
			await post('/v1/contacts', { last_name: `Added at ${seen.length}` });
			await patch(`/v1/contacts/${seen.at(-1)}`, { last_name: 'Seen' });
			await patch(`/v1/contacts/${before[95]}`, { first_name: `Not seen at ${seen.length}` });
			// The record that the cursor stands on may go, too.
			await remove(`/v1/contacts/${seen.at(-1)}`);
		}
		if (seen.length === 50) await remove(`/v1/contacts/${removed}`);
	}
	expect(seen).toHaveLength(new Set(seen).size);
	expect(seen).toEqual(expect.arrayContaining(before.filter((id) => id !== removed)));
	expect(seen).toHaveLength(100 - 1 + 5);
});

test('a cursor is valid for the same list only, at any page size', async () => {
	const { get } = inProcess({ contacts: 30 });
	const list = '/v1/contacts?lifecycle_stage=lead,customer&sort=-name';
	const { body } = await get(`${list}&limit=2`);
	const status = async (path: string) => (await get(`${path}&cursor=${body.next_cursor}`)).status;
	expect(await status(`${list}&limit=3&fields=name`)).toBe(200);
	expect(await status('/v1/contacts?lifecycle_stage=lead&sort=-name')).toBe(400);
	expect(await status('/v1/contacts?lifecycle_stage=lead,customer&sort=name')).toBe(400);
	expect(await status(`${list}&include_deleted=true`)).toBe(400);
	expect(await status('/v1/companies?limit=2')).toBe(400);
});

test('a cursor that was altered anywhere, or made up, is refused', async () => {
	const { get } = inProcess({ contacts: 3 });
	const { body } = await get('/v1/contacts?limit=1');
	const cursor: string = body.next_cursor;
	const codeOf = async (altered: string) =>
		(await get(`/v1/contacts?limit=1&cursor=${encodeURIComponent(altered)}`)).body.code;
	expect(await codeOf(cursor)).toBeUndefined();
	const replaced = [...cursor].map(
		(character, i) => cursor.slice(0, i) + (character === 'A' ? 'B' : 'A') + cursor.slice(i + 1),
	);
	const added = ['=', '!', 'A', ' '].map((character) => cursor + character);
	for (const altered of [...replaced, ...added, cursor.slice(0, -1), cursor.slice(1), '', 'x', '\0', btoa('null')]) {
		expect([altered, await codeOf(altered)]).toEqual([altered, 'invalid_cursor']);
	}
});

test('a cursor is valid after a restart, and for no other database', async () => {
	const { get, store } = inProcess({ contacts: 3 });
	const { body } = await get('/v1/contacts?limit=1');
	const path = `/v1/contacts?limit=1&cursor=${body.next_cursor}`;
	expect((await inProcess({ store }).get(path)).status).toBe(200);
	expect((await inProcess({ contacts: 3 }).get(path)).body.code).toBe('invalid_cursor');
});
