import type { IDataObject } from 'n8n-workflow';

import { nodeRuns, type Setup } from '../support/node-runs.ts';
import { getMany } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';

const sandbox = useSandbox();
const { run } = nodeRuns(sandbox);

/** Runs Get Many with Changed Since set to a date and time. */
const list = async (more: IDataObject, setup: Partial<Setup> = {}) =>
	await run(getMany('contact', { changedSince: 'moment', ...more }), [{}], setup);

test('the date and time is in the time zone of the workflow', async () => {
	await list({ moment: '2025-03-01T00:00:00', includeDeleted: true }, { timezone: 'America/New_York' });
	const [request] = await sandbox.requests();
	const query = new URLSearchParams(request?.query);
	expect(query.get('updated_since')).toBe('2025-03-01T05:00:00.000Z');
	expect(query.get('include_deleted')).toBe('true');
});

test('deleted records arrive if they are chosen, also simplified with the time of deletion', async () => {
	const contact = await sandbox.create('contacts', { last_name: 'Gone' });
	await sandbox.call('DELETE', `/v1/contacts/${contact.id}`);
	const settings = { moment: String(contact.updated_at), includeDeleted: true, simplify: true };
	const { items } = await list(settings);
	expect(items).toMatchObject([{ json: { id: contact.id, deleted_at: expect.stringMatching(/^\d{4}-/) } }]);
	expect(items[0]?.json).not.toHaveProperty('version');
	expect((await list({ ...settings, includeDeleted: false })).items).toEqual([]);
});
