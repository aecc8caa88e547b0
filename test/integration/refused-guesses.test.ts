import type { IDataObject } from 'n8n-workflow';

import { useBinaryStore } from './harness/binary-store.ts';
import { fileRuns } from './harness/file-runs.ts';
import { failure, run } from './harness/node-runs.ts';
import { automatic, create, mapped, update } from './harness/parameters.ts';
import { useSandbox } from './harness/sandbox.ts';

const sandbox = useSandbox({ contacts: 0 });
const { importOf } = fileRuns(sandbox, useBinaryStore());
const credential = () => sandbox.credential;

const contacts = async () => (await sandbox.call('GET', '/v1/contacts?limit=500')).body.data as IDataObject[];
const contact = async (values: IDataObject) => String((await sandbox.call('POST', '/v1/contacts', values)).body.id);
const stored = async (id: string) => (await sandbox.call('GET', `/v1/contacts/${id}`)).body;

test.each(['null', "''", "' '", 'undefined'])('an import whose Match On gives %s is refused, and nothing is written', async (expression) => {
	const before = await contacts();
	const importing = importOf('email,last_name\nmatch@guess.example,B\n', { importAs: 'upsert', matchOn: `={{ ${expression} }}` });
	await expect(importing).rejects.toThrow(/^Match On is empty for this item, so nothing was written/);
	expect(await contacts()).toEqual(before);
});

test.each([['ndjson', '{"last":"A","first":"B"}\n'], ['json', '[{"last":"A","first":"B"}]']])(
	'a mapped column that no row of a file as %s has is reported', async (fileFormat, content) => {
		const columns = { columnsMode: 'json', columnsJson: '{"last":"last_name","frist":"first_name"}' };
		const { hints } = await importOf(content, { fileFormat, ...columns, importAs: 'create' });
		expect(hints).toEqual([expect.stringContaining('no row has this column: “frist”')]);
	},
);

test.each(['undefined', "''", 'null'])('a column whose expression gives %s is refused, and nothing is written', async (expression) => {
	const before = await contacts();
	const columns = mapped({ last_name: 'last', first_name: `={{ ${expression} }}` });
	const importing = importOf('last,first\nA,B\n', { columnsMode: 'each', columns, importAs: 'create' });
	await expect(importing).rejects.toThrow(/the expression of “first_name” returned no column/);
	expect(await contacts()).toEqual(before);
});

test('Simplify that an expression gives wrongly for one item is refused before anything is written', async () => {
	const before = await contacts();
	const parameters = { ...create('contact', automatic), simplify: '={{ $json.simple }}' };
	const items = [{ last_name: 'A', simple: true }, { last_name: 'B', simple: 'x' }];
	expect((await failure({ credential: credential(), parameters, items })).message).toContain('Simplify');
	expect(await contacts()).toEqual(before);
});

test('a number from 2^53 on in the text of an expression for JSON is refused, and as text it is written', async () => {
	const id = await contact({ last_name: 'Big' });
	const write = (fieldsJson: string) => ({
		credential: credential(),
		parameters: update('contact', id, { fieldsMode: 'json', fieldsJson }),
		items: [{ big: Number('9007199254740993'), text: '9007199254740993' }],
	});
	const error = await failure(write('={ "external_id": {{ $json.big }} }'));
	expect(error.message).toContain('its last digits may already be lost');
	await run(write('={ "external_id": "{{ $json.text }}" }'));
	expect(await stored(id)).toMatchObject({ external_id: '9007199254740993' });
});

test.each([['clear', null], ['leave', 'Here']])('an address that is an empty text is cleared or left: %s', async (emptyCells, city) => {
	const id = await contact({ last_name: 'Addressed', address: { city: 'Here' } });
	const parameters = { ...update('contact', id, automatic), options: { emptyCells } };
	await run({ credential: credential(), parameters, items: [{ first_name: 'F', address: '' }] });
	const { address } = await stored(id);
	expect((address as IDataObject | null)?.city ?? null).toBe(city);
});

test('an empty Custom Fields cell does not clear every custom field', async () => {
	const id = await contact({ last_name: 'Kept', custom_fields: { vip: true } });
	const parameters = { ...update('contact', id, automatic), options: { emptyCells: 'clear' } } as never;
	for (const name of ['custom_fields', 'Custom Fields']) {
		const { message } = await failure({ credential: credential(), parameters, items: [{ last_name: 'Kept', [name]: '' }] });
		expect(message).toContain('would clear every custom field');
	}
	expect(await stored(id)).toMatchObject({ custom_fields: { vip: true } });
});
