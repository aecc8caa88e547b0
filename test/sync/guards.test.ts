import type { IDataObject } from 'n8n-workflow';

import { alteredService } from '../support/altered-service.ts';
import { filterRows, mapped } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { runSync, syncOf, teamsIn } from '../support/sync-node.ts';

const sandbox = useSandbox();
const service = alteredService(sandbox);
const { add, listed, newTeam, run, writes, counts } = teamsIn(sandbox);

describe('records that the source does not have', () => {
	test.each([{}, { isTool: true }])('are not deleted beyond a scope whose value a model leaves empty: %j', async (setup) => {
		const { team, records } = newTeam(6);
		await add(records);
		const filters = filterRows({ job_title: '={{ $fromAI("Team", "The team", "string", "") }}' });
		const source = records.slice(0, 3).map((record) => ({ ...record, query: { Team: '' } }));
		const syncing = run(source, { filters, missingInSource: 'delete', maxDeletionsShare: 100 }, setup);
		await expect(syncing).rejects.toThrow('Job Title: the filter has no value');
		expect(await listed(team)).toHaveLength(6);
	});

	test.each([
		['the source is empty', (): IDataObject[] => [{}], { fieldsMode: 'each', fields: mapped({ external_id: '={{ $json.key }}' }) }],
		['they are more than the share allows', (records: IDataObject[]) => records.slice(4), {}],
		['they are more than the number allows', (records: IDataObject[]) => records.slice(2), { maxDeletionsShare: 100, maxDeletions: 1 }],
		['an item has no key', (records: IDataObject[]) => [...records.slice(2), { last_name: 'Who' }], { maxDeletionsShare: 100 }],
	])('are all left, and reported as conflicts, if %s', async (_, source, limits) => {
		const { team, records, filters } = newTeam(10);
		await add(records);
		await sandbox.clear();
		const items = source(records);
		const { conflict, deleted, hints } = await run(
			items,
			{ filters, missingInSource: 'delete', ...limits },
			{ continueOnFail: true },
		);
		expect(deleted).toEqual([]);
		expect(conflict.filter(({ json }) => json.sync)).toHaveLength(items.length === 1 ? 10 : items.length === 6 ? 4 : 2);
		expect(hints).toEqual([expect.stringContaining('missing from the source')]);
		expect(await listed(team)).toHaveLength(10);
		expect(await writes()).toEqual([]);
	});

	test('are left if the reading breaks off in the middle of the list', async () => {
		const { team, records, filters } = newTeam(12);
		await add(records);
		let pages = 0;
		service.alter({
			request({ method, url }) {
				if (method !== 'GET' || url.pathname !== '/v1/contacts') return;
				url.searchParams.set('limit', '5');
				return ++pages > 2 ? { status: 500, body: '{}' } : undefined;
			},
		});
		const choices = { filters, missingInSource: 'delete', options: { maxWait: 0 } };
		await expect(run(records.slice(1), choices, { credential: service.credential })).rejects.toThrow();
		expect(pages).toBeGreaterThan(2);
		expect(await listed(team)).toHaveLength(12);
	});
});

const recordOf = async (id: unknown) => await sandbox.call('GET', `/v1/contacts/${String(id)}`);

describe('a field name whose expression returns nothing stops the node before it writes', () => {
	const byVersion = { versionField: 'seen', bothChanged: 'latest', changedAtField: 'at', agreedField: 'agreed' };
	test.each([
		['alsoMatchOn', 'Then Match On'],
		['versionField', 'Version Field'],
		['changedAtField', 'Changed At Field'],
		['agreedField', 'Agreed Values Field'],
	])('%s', async (name, label) => {
		const { records } = newTeam(1);
		const [stored] = await add(records);
		await sandbox.clear();
		const items = [{ ...records[0]!, last_name: 'Of the source', seen: 0, at: '2100-01-01T00:00:00Z' }];
		for (const typo of ['={{ $json.typo }}', '={{ null }}', '={{ " " }}', '={{ [] }}']) {
			await expect(run(items, { ...byVersion, [name]: typo })).rejects.toThrow(label);
		}
		expect(await writes()).toEqual([]);
		expect((await recordOf(stored!.id)).body).toMatchObject({ last_name: records[0]!.last_name });
	});

	test('a field name whose expression returns a name is read', async () => {
		const { records } = newTeam(1);
		const [stored] = await add(records);
		const items = [{ ...records[0]!, last_name: 'Of the source', seen: stored!.version, column: 'seen' }];
		expect(counts(await run(items, { versionField: '={{ $json.column }}', alsoMatchOn: '=' }))).toEqual([0, 1, 0, 0, 0]);
	});
});

describe('a value for all items together is not taken from one of them', () => {
	test.each<[string, unknown, string]>([
		['preview', '={{ $json.of === "b" }}', 'Preview: the expression returns false for item 0, but true for item 1.'],
		['matchOn', '={{ $json.of === "b" ? "email" : "external_id" }}', 'Match On: '],
		['alsoMatchOn', '={{ $json.of === "b" ? "email" : "id" }}', 'Then Match On: '],
		['missingInCrm', '={{ $json.of === "b" ? "leave" : "create" }}', 'When Missing in the CRM: '],
		['differing', '={{ $json.of === "b" ? "leave" : "update" }}', 'When Values Differ: '],
		['bothChanged', '={{ $json.of === "b" ? "crm" : "source" }}', 'When Both Changed: '],
		['maxDeletions', '={{ $itemIndex }}', 'Maximum Deletions: '],
		['maxDeletionsShare', '={{ $itemIndex + 5 }}', 'Maximum Deletions (%): '],
		['filters', filterRows({ job_title: '={{ $json.of }}' }), 'Records in Scope: the expression returns "a" for item 0, but "b" for item 1.'],
		['missingValues', { mappingMode: 'defineBelow', value: { job_title: '={{ "left: " + $json.last_name }}' } }, 'Fields to Set: '],
		['versionField', '={{ $json[$json.of] }}', 'Version Field: the expression returns nothing for item 0'],
		[
			'options', { valuesIn: { notation: { phoneCountry: '={{ $json.of === "b" ? "DE" : "FR" }}' } } },
			'Values In: the expression returns "FR" for item 0',
		],
	])('%s', async (name, value, words) => {
		const { team, records } = newTeam(4);
		await add(records);
		await sandbox.clear();
		const items = records.slice(0, 2).map((record, i) => ({ ...record, last_name: `New ${i}`, of: 'ab'[i]!, b: 'seen' }));
		const more = {
			missingInSource: 'set',
			missingValues: { mappingMode: 'defineBelow', value: { job_title: 'x' } },
			...(name === 'bothChanged' && { versionField: 'of' }),
			[name]: value,
		};
		const limits = { filters: filterRows({ job_title: team }), maxDeletionsShare: 100 };
		await expect(run(items, { ...limits, ...more })).rejects.toThrow(words);
		expect(await writes()).toEqual([]);
	});

	test('an expression with the custom object of each item is refused', async () => {
		const parameters = syncOf('customObjectRecord', { objectKey: { __rl: true, mode: 'id', value: '={{ $json.external_id }}' } });
		const syncing = runSync({ credential: sandbox.credential, parameters, items: [{ external_id: 'cars' }, { external_id: 'boats' }] });
		await expect(syncing).rejects.toThrow('Custom Object: the expression returns "cars" for item 0, but "boats" for item 1');
	});

	test('an expression that is equal for all items is read', async () => {
		const { team, records } = newTeam(3);
		await add(records);
		const items = records.map((record) => ({ ...record, write: true, team }));
		const choices = { preview: '={{ !$json.write }}', filters: filterRows({ job_title: '={{ $json.team }}' }) };
		expect(counts(await run(items, choices))).toEqual([0, 0, 3, 0, 0]);
	});
});
