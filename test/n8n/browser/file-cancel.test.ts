import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import type { INode } from 'n8n-workflow';
import { inARow } from '../../../demo/workflow-node.ts';
import { until } from '../../support/until.ts';
import { ofSandbox, theN8n, theWorld } from '../harness/access.ts';
import { baseNode } from '../harness/killable-n8n.ts';
import { actionNode, itemsOf, triggerName, workflowWith } from '../harness/run-n8n-node.ts';
import { callSandbox, clearFaults, setFaults } from '../harness/sandbox-calls.ts';

const n8n = theN8n();
const rows = 12_000;

afterEach(async () => await clearFaults());

/** A workflow that makes a file and imports it. */
async function importWorkflow(lastName: string) {
	const options = { writeOncePer: lastName };
	const parameters = { resource: 'file', operation: 'importFile', importAs: 'create', binaryField: 'data', preview: false, options };
	const workflow = workflowWith({ credentials: await ofSandbox(), parameters });
	const jsCode = `const rows = Array.from({ length: ${rows} }, (_, i) => '${lastName} ' + i);
return [{ json: { csv: ['last_name', ...rows].join('\\n') } }];`;
	const file = { operation: 'toText', sourceProperty: 'csv', options: { fileName: 'people.csv' } };
	const nodes = [baseNode('code', 2, 'Rows', { jsCode }), baseNode('convertToFile', 1.1, 'File', file)];
	const [trigger, action] = workflow.nodes as [INode, INode];
	const all = [trigger, ...nodes, action];
	return await n8n.createWorkflow({ ...workflow, nodes: all, connections: inARow(all) });
}

test('an import that a user stops starts no further job, and continues where it stopped when it is run again', async () => {
	const lastName = `file-${randomUUID()}`;
	const id = await importWorkflow(lastName);
	const found = async () => (await callSandbox('GET', `/v1/contacts?q=${lastName}&limit=1`)).body.total;
	// The service takes two jobs, of 5,000 rows each.
	const refusal = { status: 503, headers: { 'Retry-After': '30' } };
	await setFaults({ path: '/v1/jobs', method: 'POST', after: 2, ...refusal });
	const stopped = n8n.runWorkflow(id, triggerName);
	await until(async () => (await found()) >= 10_000);
	const [execution = ''] = await n8n.listExecutions(id);
	await n8n.stopExecution(execution);
	expect(await stopped).toMatchObject({ status: 'canceled' });
	await until(() => readFileSync(theWorld().log, 'utf8').includes('refused; stopped'));
	await clearFaults();
	expect(await found()).toBe(10_000);

	const { data } = await n8n.runWorkflow(id, triggerName);
	expect(itemsOf(data, actionNode)[0]?.json).toMatchObject({ complete: true, done: rows, failed: 0 });
	expect(await found()).toBe(rows);
});
