import type { IDataObject } from 'n8n-workflow';

import { filterRows } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { teamsIn } from '../support/sync-node.ts';

const sandbox = useSandbox();
const { add, listed, newTeam, run, writes } = teamsIn(sandbox);

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
		['the source is empty', (): IDataObject[] => [{}], {}],
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
		expect(hints).toContainEqual(expect.stringContaining('missing from the source'));
		expect(await listed(team)).toHaveLength(10);
		expect(await writes()).toEqual([]);
	});

	describe('of a list of several pages', () => {
		const { team, records, filters } = newTeam(1_200);
		const choices = { filters, missingInSource: 'delete', options: { maxWait: 0 } };
		beforeAll(async () => {
			for (let from = 0; from < records.length; from += 100) await add(records.slice(from, from + 100));
		});

		test.each([
			{ status: 500 },
			{ status: 429 },
			{ malformed: true },
		])('are left if the reading breaks off in the middle (%j)', async (fault) => {
			await sandbox.faults({ path: '/v1/contacts', method: 'GET', after: 2, ...fault });
			const source = records.slice(1);
			await expect(run(source, choices)).rejects.toThrow();
			expect(await writes()).toEqual([]);
			await sandbox.clear();
			expect((await sandbox.read(`contacts?job_title=${team}&limit=1`)).total).toBe(1_200);
		});
	});
});
