import { useBinaryStore } from '../support/binary-store.ts';
import { fileRuns, rowsOf } from '../support/file-runs.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox({ contacts: 0 });
const { importOf, setupOf } = fileRuns(sandbox, useBinaryStore());

test.each([false, true])('a record nested 100,000 levels deep fails only its row, each time (On Error: %s)', async (continueOnFail) => {
	const deep = `{"last_name":"B","custom_fields":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;
	const lines = (name: string) => `{"last_name":"A","email":"a@${name}"}\n${deep}\n{"last_name":"C","email":"c@${name}"}\n`;
	const again = { executionId: `deep-${continueOnFail}`, context: {}, continueOnFail };
	const content = lines(`deep${continueOnFail}.example`);
	for (const attempt of [1, 2]) {
		const { json, failed } = await importOf(content, { fileFormat: 'ndjson' }, again);
		expect({ attempt, ...json }).toMatchObject({ attempt, created: 2, failed: 1 });
		expect(JSON.parse(failed)).toEqual({
			import_row: 2,
			import_error_code: 'unreadable_row',
			import_error_message: expect.stringContaining('nested more than 500 levels'),
			import_error_row: deep,
		});
	}
});

test('a cell with JSON nested 100,000 levels deep fails only its own row', async () => {
	const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`;
	const csv = `last_name,email,emails,tag_ids\nA,a@cell.example,"${deep}",\nB,b@cell.example,,"${deep}"\nC,c@cell.example,,\n`;
	const { json, failed } = await importOf(csv);
	expect(json).toMatchObject({ created: 1, failed: 2 });
	expect(rowsOf(failed).map((row) => row.import_error_message)).toEqual([
		expect.stringMatching(/Emails: .*500 levels/), expect.stringMatching(/Tags: .*500 levels/),
	]);
});

test('the files of an import open in a spreadsheet and are imported again', async () => {
	const { done, failed } = await importOf('last_name,email\nZoë,zoe@mark.example\nŁukasz,none\n');
	expect([done[0], failed[0]]).toEqual(['\uFEFF', '\uFEFF']);
	expect((await importOf(failed.replace('none', 'l@mark.example'))).json).toMatchObject({ created: 1 });
});

test.each([true, false])('a column without a name is reported, with a preview %s', async (preview) => {
	const { hints, json } = await importOf(`last_name,,email,\nA,secret,a${preview}@unnamed.example,\n`, { preview });
	expect(json).toMatchObject({ rows: 1, failed: 0 });
	expect(hints.filter((hint) => !hint.startsWith('Preview'))).toEqual([
		'Not imported because the header does not name column 2. Name it in the first row.',
	]);
});

const noBooleans = ['yes', 0, 1, '={{ undefined }}', '={{ $vars.DRY }}', null];
test.each(noBooleans)('a preview that is %j is refused, and nothing is written', async (preview) => {
	await sandbox.clear();
	const { items, ...setup } = { items: [{}], ...(await setupOf('last_name\nA\n', { preview })) };
	const { run } = await import('../support/node-runs.ts');
	await expect(run({ ...setup, items })).rejects.toThrow(/Preview: enter true or false/);
	expect(await sandbox.writes()).toEqual([]);
});
