import type { IDataObject } from 'n8n-workflow';

import { nodeRuns } from '../../support/node-runs.ts';
import { useTriggers } from '../../support/open-triggers.ts';
import { submitAndFollow, newBrowser, shownOnce } from '../../sandbox/harness/scripted-browser.ts';
import { create, update } from '../../support/parameters.ts';
import { usePublished, type Published } from '../../support/published-workflow.ts';
import { useSandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';

const sandbox = useSandbox({ contacts: 0 });
const { output } = nodeRuns(sandbox);
const { saved } = usePublished(sandbox);
const openWebhookTrigger = useTriggers(sandbox);

/** Writes as a node of `workflow-1` does: one record, several in a batch, and a change. */
async function writeInWorkflow(): Promise<void> {
	const [contact] = await output(create('contact', { last_name: 'Alone' }));
	await output(create('contact', { last_name: '={{ $json.name }}' }), [{ name: 'First' }, { name: 'Second' }]);
	await output(update('contact', String(contact!.id), { job_title: 'Buyer' }));
}

/** A write by somebody else, after the workflow's: once its event has arrived, so have all earlier ones. */
const writeOutside = async () => await sandbox.create('contacts', { last_name: 'Outside' });

/** A change by another actor. */
async function writeOutsideWith(apiKey: string): Promise<void> {
	const { status } = await sandbox.call('POST', '/v1/contacts', { last_name: 'Outside' }, { Authorization: `Bearer ${apiKey}` });
	expect(status).toBe(201);
}

/** A second API key, as an administrator makes one in the service's settings. */
async function anotherKey(): Promise<string> {
	const browser = newBrowser((path, init) => fetch(new URL(path, sandbox.url), init));
	await browser.signIn('admin');
	const settings = '/settings/api';
	const fields = { action: 'create-key', key_name: 'Another' };
	const [key] = shownOnce(await submitAndFollow(browser, settings, fields));
	return key!;
}

const isOutside = (item: IDataObject) => JSON.stringify(item).includes('"Outside"');

async function publish(workflowId: string, parameters: IDataObject): Promise<Published> {
	const published = saved({ events: ['contact.*'], ...parameters });
	published.workflowId = workflowId;
	await published.activate();
	return published;
}

/** @param count of items to wait for: the events of a record wait for each other, those of others may overtake them */
async function itemsOf(published: Published, count = 1): Promise<IDataObject[]> {
	const items = () => published.executions.flatMap((execution) => execution.items);
	await until(() => items().some(isOutside) && items().length >= count);
	return items();
}

test('changes that a workflow has made do not start it again, and start the others', async () => {
	const writingWorkflow = await publish('workflow-1', { filters: { ignore: ['workflow'] } });
	const other = await publish('workflow-2', { filters: { ignore: ['workflow'] } });
	const ofN8n = await publish('workflow-3', { filters: { ignore: ['instance'] } });
	await writeInWorkflow();
	await writeOutside();
	expect(await itemsOf(writingWorkflow)).toHaveLength(1);
	expect(await itemsOf(ofN8n)).toHaveLength(1);
	const causes = (await itemsOf(other, 5)).map(({ type, made_by: by }) => `${String(type)} ${String(by)}`);
	const byN8n = Array<string>(3).fill('contact.created this_n8n');
	expect(causes.sort()).toEqual(['contact.created other', ...byN8n, 'contact.updated this_n8n']);
});

test('what an undo restores does not start a workflow that ignores undos, and starts the others', async () => {
	const ignoring = await publish('workflow-2', { filters: { ignore: ['undo'] } });
	const other = await publish('workflow-3', {});
	const contact = await sandbox.create('contacts', { last_name: 'Before' });
	const executionId = 'undone';
	await output(update('contact', contact.id, { last_name: 'Changed' }), [{}], { executionId });
	await output({ resource: 'change', operation: 'undo', preview: false, undoOf: 'execution', undoId: executionId, since: '', options: {} });
	await writeOutside();
	expect(await itemsOf(other, 4)).toHaveLength(4);
	expect((await itemsOf(ignoring, 3)).map(({ type }) => type).sort()).toEqual(['contact.created', 'contact.created', 'contact.updated']);
});

test('records that a workflow has written do not start it again', async () => {
	const parameters = { source: 'records', resource: 'contact', simplify: false };
	const n8n = await publish('workflow-1', { ...parameters, options: { ignore: ['workflow'] } });
	const before = (await sandbox.read('contacts?limit=1')).total as number;
	await until(() => n8n.ids().length >= before);
	await writeInWorkflow();
	const { id } = await writeOutside();
	await until(() => n8n.ids().includes(id));
	expect(n8n.ids().slice(before)).toEqual([id]);
});

test('changes made with a credential are ignored by the id of its actor', async () => {
	await writeOutside();
	const [event] = await sandbox.list('events?sort=-sequence&limit=1');
	const { id: actor } = event!.actor as { id: string };
	const ignoring = await publish('workflow-1', { filters: { ignoreUsers: [actor] } });
	const all = await publish('workflow-2', {});
	await writeInWorkflow();
	await writeOutsideWith(await anotherKey());
	expect(await itemsOf(all, 5)).toHaveLength(5);
	expect((await itemsOf(ignoring)).map(isOutside)).toEqual([true]);
});

test('a delivery about the workflow’s own change starts nothing', async () => {
	const trigger = await openWebhookTrigger({ events: ['contact.*'], filters: { ignore: ['workflow'] } });
	await writeInWorkflow();
	await writeOutside();
	await until(() => trigger.answers.length >= 5);
	expect(trigger.answers).toEqual(Array(5).fill(202));
	expect(trigger.started).toHaveLength(1);
	expect(isOutside(trigger.started[0]!)).toBe(true);
});
