import type { INodeParameters } from 'n8n-workflow';

import { idempotencyKey } from '../../nodes/CrmPlatform/api/http/idempotency';
import { searchCausers } from '../../nodes/CrmPlatform/pickers/searchPickers';
import { until } from '../support/until.ts';
import { executeContext, picker } from '../support/node-runs.ts';
import * as op from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { undoing } from '../support/undo-node.ts';

const sandbox = useSandbox({ contacts: 0 });
const { as, undo, results, add, record } = undoing(sandbox);

const listed = async (undoOf: string, filter?: string) => {
	const parameters: INodeParameters = { resource: 'change', operation: 'undo', undoOf };
	return (await picker(searchCausers, { credential: sandbox.credential, parameters, path: 'parameters.undoId' }, filter)).results;
};
const names = async (undoOf: string, filter?: string) =>
	(await listed(undoOf, filter)).map(({ name }) => name.replace(/\d{4}-\d\d-\d\d \d\d:\d\d/, 'TIME'));

test('the executions, workflows and users to pick from are those whose changes the log has', async () => {
	const contact = await add('contacts', { last_name: 'Lovelace' });
	const instance = executeContext({ credential: sandbox.credential, parameters: {} }).context.getInstanceId();
	const write = async (from: { instance: string; workflow: string; execution: string }) => {
		const key = idempotencyKey({ ...from, node: 'n', runKey: 0, keyParts: [0] });
		await sandbox.call('PATCH', `/v1/contacts/${contact.id}`, { job_title: from.execution }, { 'idempotency-key': key });
	};
	await write({ instance, workflow: 'other', execution: '4710' });
	await write({ instance: 'another n8n', workflow: 'w', execution: '99' });
	await as('4711', op.update('contact', contact.id, { last_name: 'King' }));
	await as('4711', op.update('contact', contact.id, { last_name: 'Byron' }));

	expect(await names('execution')).toEqual([
		'4711 – 2 changes, last TIME UTC – this workflow', '4710 – 1 change, last TIME UTC – workflow other',
	]);
	expect(await names('execution', 'OTHER')).toEqual(['4710 – 1 change, last TIME UTC – workflow other']);
	expect(await names('workflow')).toEqual([
		'workflow-1 – 2 changes, last TIME UTC – this workflow', 'other – 1 change, last TIME UTC – another workflow of this n8n',
	]);
	expect(await names('actor')).toEqual([expect.stringContaining(' – 5 changes, last TIME UTC')]);

	const [{ value = '' } = {}] = await listed('execution');
	expect(results(await undo('', { undoId: { __rl: true, mode: 'list', value } }))).toEqual(['undone']);
	expect(await record('contacts', contact.id)).toMatchObject({ last_name: 'Lovelace', job_title: '99' });
});

test('a list of causers tells if the log has more than it has read', async () => {
	const body = Array.from({ length: 10_000 }, (_, i) => `{"last_name":"n${i}"}`).join('\n');
	const headers = { authorization: `Bearer ${sandbox.credential.apiKey}`, 'content-type': 'application/x-ndjson' };
	const started = await fetch(`${sandbox.url}/v1/jobs?resource=contacts&operation=create`, { method: 'POST', headers, body });
	const job = started.headers.get('location')!;
	await until(async () => (await sandbox.call('GET', job)).body.status === 'completed');
	expect(await names('actor')).toEqual([expect.stringMatching(/ – at least [\d,]+ changes, last TIME UTC/)]);
	await sandbox.clear();
	await names('actor');
	expect((await sandbox.requests()).filter(({ path }) => path.startsWith('/v1/events')).length).toBeLessThanOrEqual(20);
}, 120_000);
