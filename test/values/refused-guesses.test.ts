import type { IDataObject } from 'n8n-workflow';

import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns } from '../support/file-runs.ts';
import { nodeRuns } from '../support/node-runs.ts';
import { mapped, update } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 0 });
const { failure, run } = nodeRuns(sandbox);
const { importOf } = fileRuns(sandbox, useBinaryStore());

const contacts = async () => await sandbox.list('contacts?limit=500');
const contact = async (values: IDataObject) => (await sandbox.create('contacts', values)).id;
const stored = async (id: string) => await sandbox.read(`contacts/${id}`);

test.each(['null', "''", "' '", 'undefined'])('an import with a Match On of %s is refused, and nothing is written', async (expression) => {
	const before = await contacts();
	const importing = importOf('email,last_name\nmatch@guess.example,B\n', { importAs: 'upsert', matchOn: `={{ ${expression} }}` });
	await expect(importing).rejects.toThrow(/^Match On is empty for this item, so nothing was written/);
	expect(await contacts()).toEqual(before);
});

test.each([['ndjson', '{"last":"A","first":"B"}\n'], ['json', '[{"last":"A","first":"B"}]']])(
	'a mapped column that no row of a file as %s has is reported', async (fileFormat, content) => {
		const columns = { columnsMode: 'each', columns: mapped({ last_name: 'last', first_name: 'frist' }) };
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

test.each<[fieldsJson: string, message: string]>([
	['{"title":"A","probability":101}', 'Probability: “101” is not a number of at most 100'],
	['{"title":"A","probability":"-1"}', 'Probability: “-1” is not a number of at least 0'],
	['{"title":"A","custom_fields":{},"title":"B"}', 'The JSON has the name “title” twice in one object. Remove the wrong one.'],
	[String.raw`{"title":"A","custom_fields":"{\"a\":1,\"\\u0061\":2}"}`, 'The JSON has the name “a” twice in one object.'],
])('%s is refused before anything is sent', async (fieldsJson, message) => {
	const parameters = { resource: 'deal', operation: 'create', fieldsMode: 'json', fieldsJson };
	expect((await failure(parameters)).message).toContain(message);
});

test('a value that a set has twice is written once, also under another name of it', async () => {
	const tag = await sandbox.create('tags', { name: 'Twice' });
	const id = await contact({ last_name: 'Set' });
	await run(update('contact', id, mapped({ tag_ids: `Twice, ${tag.id}, twice` })));
	expect(await stored(id)).toMatchObject({ tag_ids: [tag.id] });
});

test('a number from 2^53 on in the text of an expression for JSON is refused, and as text it is written', async () => {
	const id = await contact({ last_name: 'Big' });
	const json = (fieldsJson: string) => update('contact', id, { fieldsMode: 'json', fieldsJson });
	const items = [{ big: Number('9007199254740993'), text: '9007199254740993' }];
	const error = await failure(json('={ "external_id": {{ $json.big }} }'), items);
	expect(error.message).toContain('its last digits may already be lost');
	await run(json('={ "external_id": "{{ $json.text }}" }'), items);
	expect(await stored(id)).toMatchObject({ external_id: '9007199254740993' });
});
