import type { ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import type { IDataObject } from 'n8n-workflow';

import { idempotencyKey } from '../../../nodes/CrmPlatform/api/http/idempotency';
import { executeContext } from '../../support/node-runs.ts';
import { useSandbox } from '../../support/sandbox.ts';
import { until } from '../../support/until.ts';
import { outputOf, startNodeProcess } from './killable-node.ts';

const sandbox = useSandbox({ contacts: 0 });
const count = 80;
/** The numbers of writes after which the process is killed, while the service delays the next writes. */
const killedAfter = [1, 20, 25];

/** Undoes the execution in a process of its own. */
function startUndo(executionId: string): ChildProcess {
	const { baseUrl, apiKey } = sandbox.credential;
	const parameters = { resource: 'change', operation: 'undo', preview: false, undoOf: 'execution', undoId: 'wrong', since: '', options: {} };
	return startNodeProcess('node', { credential: { baseUrl, apiKey }, parameters, executionId });
}

async function undoToItsEnd(executionId: string): Promise<IDataObject[]> {
	const output = await outputOf(startUndo(executionId));
	return JSON.parse(output!) as IDataObject[];
}

const writes = async (): Promise<number> => (await sandbox.writes()).length;

let keys = 0;

/** Writes many contacts, as the execution to undo or as somebody else. */
async function batch(verb: string, items: IDataObject[], isWrong: boolean): Promise<IDataObject[]> {
	const instance = executeContext({ credential: sandbox.credential, parameters: {} }).context.getInstanceId();
	const key = idempotencyKey({ instance, workflow: 'w', execution: isWrong ? 'wrong' : 'other', node: 'n', runKey: 0, items: [++keys] });
	const { body } = await sandbox.call('POST', `/v1/contacts/batch/${verb}`, { items }, { 'idempotency-key': key });
	const results = body.results as Array<{ status: number; id: string; data: IDataObject }>;
	expect(results.filter(({ status }) => status >= 300)).toEqual([]);
	return results.map(({ id, data }) => data ?? { id });
}

/** All contacts without their IDs, which change when a record is created again. */
async function people(): Promise<string[]> {
	const { body } = await sandbox.call('GET', '/v1/contacts?limit=500');
	return (body.data as IDataObject[]).map(({ last_name: name, job_title: title, phone }) => JSON.stringify({ name, title, phone })).sort();
}

test('an undo whose n8n is killed repeatedly reaches the same result when it is run again: nothing twice, nothing missing', async () => {
	const named = (name: string) => Array.from({ length: count }, (_, i) => ({ last_name: `${name} ${i}`, job_title: `Title ${i}` }));
	const changed = await batch('create', named('Changed'), false);
	const deleted = await batch('create', named('Deleted'), false);
	const before = await people();
	await batch('update', changed.map(({ id }) => ({ id, job_title: 'Wrong' })), true);
	await batch('create', named('Created'), true);
	await batch('delete', deleted.map(({ id }) => ({ id })), true);

	for (const [i, after] of killedAfter.entries()) {
		await sandbox.faults({ method: 'POST', after, latencyMs: 600_000 });
		const process = startUndo(`killed-${i}`);
		await until(async () => {
			if (process.exitCode !== null) throw new Error('The undo has ended too early.');
			return (await writes()) >= after;
		});
		process.kill('SIGKILL');
		if (process.signalCode === null) await once(process, 'exit');
		expect(process.signalCode).toBe('SIGKILL');
	}
	await sandbox.clear();
	const items = await undoToItsEnd('last');
	expect(await people()).toEqual(before);
	expect([...new Set(items.map(({ result }) => result))].sort()).toEqual(['already_so', 'undone']);
	expect(items).toHaveLength(3 * count);

	await sandbox.clear();
	expect((await undoToItsEnd('again')).filter(({ result }) => result !== 'already_so')).toEqual([]);
	expect(await writes()).toBe(0);
}, 600_000);
