import type { IDataObject } from 'n8n-workflow';

import { run as runNode, type Setup } from './harness/node-runs.ts';
import { getMany } from './harness/parameters.ts';
import { useSandbox } from './harness/sandbox.ts';

const sandbox = useSandbox();

/** Runs Get Many with Changed Since set to a date and time. */
const run = async (more: IDataObject = {}, setup: Partial<Setup> = {}, filters: IDataObject = {}) =>
	await runNode({
		credential: sandbox.credential,
		parameters: getMany('contact', { changedSince: 'moment', ...more }, filters),
		...setup,
	});

test('the date and time is in the time zone of the workflow', async () => {
	await run({ moment: '2025-03-01T00:00:00', includeDeleted: true }, { timezone: 'America/New_York' });
	const [request] = await sandbox.requests();
	const query = new URLSearchParams(request?.query);
	expect(query.get('updated_since')).toBe('2025-03-01T05:00:00.000Z');
	expect(query.get('include_deleted')).toBe('true');
});

test('deleted records arrive if they are chosen, also simplified with the time of deletion', async () => {
	const { body } = await sandbox.call('POST', '/v1/contacts', { last_name: 'Gone' });
	await sandbox.call('DELETE', `/v1/contacts/${String(body.id)}`);
	const settings = { moment: String(body.updated_at), includeDeleted: true, simplify: true };
	const { items } = await run(settings);
	expect(items).toMatchObject([{ json: { id: body.id, deleted_at: expect.stringMatching(/^\d{4}-/) } }]);
	expect(items[0]?.json).not.toHaveProperty('version');
	expect((await run({ ...settings, includeDeleted: false })).items).toEqual([]);
});

test.each([
	[{ moment: '' }, 'Date and Time: enter a date such as'],
	[{ changedSince: 'lastRun' }, 'Changed Since: enter one of anyTime, moment instead of “lastRun”'],
	[{ moment: '2025-01-01', options: { parallelReads: 0 } }, 'Parallel Reads: enter a whole number from 1 to 10'],
	[{ moment: '2025-01-01', options: { parallelReads: 1000 } }, 'Parallel Reads: enter a whole number from 1 to 10'],
])('%j is refused in the user’s words', async (more, words) => {
	await expect(run(more)).rejects.toThrow(words);
	expect(await sandbox.requests()).toEqual([]);
});
