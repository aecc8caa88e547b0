import { useSandbox } from './sandbox.ts';
import { teamsIn } from './syncNode.ts';

const sandbox = useSandbox();
const { add, counts, own, run, writes } = teamsIn(sandbox);
const recordOf = async (id: unknown) => await sandbox.call('GET', `/v1/contacts/${String(id)}`);

describe('a field name that an expression does not give stops the node before it writes', () => {
	const byVersion = { versionField: 'seen', bothChanged: 'latest', changedAtField: 'at', agreedField: 'agreed' };
	test.each([
		['alsoMatchOn', 'Then Match On'],
		['versionField', 'Version Field'],
		['changedAtField', 'Changed At Field'],
		['agreedField', 'Agreed Values Field'],
	])('%s', async (name, label) => {
		const { records } = own(1);
		const [stored] = await add(records);
		await sandbox.clear();
		const items = [{ ...records[0]!, last_name: 'Of the source', seen: 0, at: '2100-01-01T00:00:00Z' }];
		for (const typo of ['={{ $json.typo }}', '={{ null }}', '={{ " " }}', '={{ [] }}']) {
			await expect(run(items, { ...byVersion, [name]: typo })).rejects.toThrow(label);
		}
		expect(await writes()).toEqual([]);
		expect((await recordOf(stored!.id)).body).toMatchObject({ last_name: records[0]!.last_name });
	});

	test('but one that it gives is read', async () => {
		const { records } = own(1);
		const [stored] = await add(records);
		const items = [{ ...records[0]!, last_name: 'Of the source', seen: stored!.version, column: 'seen' }];
		expect(counts(await run(items, { versionField: '={{ $json.column }}', alsoMatchOn: '=' }))).toEqual([0, 1, 0, 0, 0]);
	});
});
