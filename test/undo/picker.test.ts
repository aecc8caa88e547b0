import type { IDataObject, INodeParameters } from 'n8n-workflow';

import { idempotencyKey } from '../../nodes/CrmPlatform/api/http/idempotency';
import { searchCausers } from '../../nodes/CrmPlatform/pickers/searchPickers';
import { alteredService } from '../support/altered-service.ts';
import { executeContext, picker } from '../support/node-runs.ts';
import * as op from '../support/parameters.ts';
import { useSandbox } from '../support/sandbox.ts';
import { undoing } from '../support/undo-node.ts';

const sandbox = useSandbox({ contacts: 0 });
const service = alteredService(sandbox);
const { as, undo, results, add, record } = undoing(sandbox);

const listed = async (undoOf: string, filter?: string) => {
	const parameters: INodeParameters = { resource: 'change', operation: 'undo', undoOf };
	return (await picker(searchCausers, { credential: service.credential, parameters, path: 'parameters.undoId' }, filter)).results;
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
	await add('contacts', { last_name: 'Busy' });
	const [event] = await sandbox.list<IDataObject>('events?sort=-sequence&limit=1');
	let sequence = 1_000_000;
	service.alter({
		request({ url }) {
			if (url.pathname !== '/v1/events') return;
			const data = Array.from({ length: 500 }, () => ({ ...event, id: `evt_${--sequence}`, sequence }));
			return { status: 200, body: JSON.stringify({ data, next_cursor: `${sequence}`, total: 1_000_000 }) };
		},
	});
	expect(await names('actor')).toEqual([expect.stringMatching(/ – at least 10,000 changes, last TIME UTC/)]);
	expect(service.passed.filter((request) => request.startsWith('GET /v1/events'))).toHaveLength(20);
});
