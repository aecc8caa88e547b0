import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { nodeRuns } from '../support/node-runs.ts';
import { on } from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { until } from '../support/until.ts';

const sandbox = useSandbox();
const { run } = nodeRuns(sandbox);
const timeline = async (resource: string, id: unknown, more: IDataObject = {}) => {
	const parameters = { ...on(resource, 'getTimeline', id), limit: 50, simplify: true, ...more } as INodeParameters;
	return (await run(parameters)).items.map(({ json }) => json);
};

/** A contact with one of each kind, the last of them first. */
async function aContact(): Promise<{ id: string; ids: IDataObject }> {
	const { id } = await sandbox.create('contacts', { last_name: 'Timeline' });
	const links = [{ resource: 'contacts', id }];
	const ids: IDataObject = {};
	const add = async (kind: string, path: string, values: IDataObject) => {
		const before = Date.now();
		await until(() => Date.now() > before);
		ids[kind] = (await sandbox.create(path, values)).id;
	};
	const call = { type: 'call', direction: 'inbound', subject: 'Asked for a price' };
	await add('activity', 'activities', { ...call, occurred_at: '2024-01-01T10:00:00Z', links });
	await add('deal', 'deals', { title: 'Renewal', amount: 1200, currency: 'EUR', contact_id: id, contact_ids: [id] });
	const email = { channel: 'email', direction: 'inbound', from: 'a@b.example', to: ['us@acme.example'], text: 'x' };
	await add('message', 'messages', { ...email, subject: 'Re: Offer', contact_id: id });
	await add('note', 'notes', { body: 'Prefers\nmornings', links });
	await add('task', 'tasks', { title: 'Call back', links });
	await add('ticket', 'tickets', { subject: 'No hot water', contact_id: id });
	return { id, ids };
}

test('what hangs on a record comes as one list with a line each, the newest first, each record once', async () => {
	const { id, ids } = await aContact();
	const entries = await timeline('contact', id);
	expect(entries.map(({ kind, id: entry }) => [kind, entry])).toEqual(
		['ticket', 'task', 'note', 'message', 'deal', 'activity'].map((kind) => [kind, ids[kind]]),
	);
	expect(entries.map(({ summary }) => summary)).toEqual([
		expect.stringMatching(/No hot water/),
		expect.stringMatching(/Call back/),
		'Prefers mornings',
		expect.stringMatching(/^inbound email: Re: Offer/),
		expect.stringMatching(/^Renewal – 1,200 EUR/),
		expect.stringMatching(/^inbound call: Asked for a price/),
	]);
});

test('kinds and the limit are those chosen, and whole records are beside the lines if they are not simplified', async () => {
	const { id, ids } = await aContact();
	expect(await timeline('contact', id, { limit: 2 })).toMatchObject([{ kind: 'ticket' }, { kind: 'task' }]);
	const [note, activity, ...others] = await timeline('contact', id, { timelineKinds: ['note', 'activity'], simplify: false });
	expect(note).toMatchObject({ id: ids.note, record: { id: ids.note, version: 1 } });
	expect(activity).toMatchObject({ kind: 'activity', time: '2024-01-01T10:00:00.000Z' });
	expect(others).toEqual([]);
	await expect(timeline('contact', 'con_gone')).rejects.toMatchObject({ httpCode: '404' });
});
