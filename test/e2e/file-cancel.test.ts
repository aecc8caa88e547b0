import { randomUUID } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { until } from '../until.ts';
import { sandboxCredential, theN8n, theWorld } from './harness/access.ts';
import { baseNode } from './harness/killable-n8n.ts';
import { ACTION_NODE, TRIGGER, workflowWith } from './harness/run-node.ts';
import { callSandbox } from './harness/sandbox-calls.ts';

const n8n = theN8n();
const rows = 12_000;

afterEach(async () => await callSandbox('PUT', '/_sandbox/faults', []));

/** Makes a file, and imports it. */
async function importWorkflow(lastName: string) {
	const credentialId = await n8n.createCredential(sandboxCredential());
	const options = { writeOncePer: lastName };
	const parameters = { resource: 'file', operation: 'importFile', importAs: 'create', binaryField: 'data', options };
	const workflow = workflowWith({ credentialId, parameters });
	const jsCode = `const rows = Array.from({ length: ${rows} }, (_, i) => '${lastName} ' + i);
return [{ json: { csv: ['last_name', ...rows].join('\\n') } }];`;
	const file = { operation: 'toText', sourceProperty: 'csv', options: { fileName: 'people.csv' } };
	const nodes = [baseNode('code', 2, 'Rows', { jsCode }), baseNode('convertToFile', 1.1, 'File', file)];
	const to = (node: string) => ({ main: [[{ node, type: 'main' as const, index: 0 }]] });
	const connections = { [TRIGGER]: to('Rows'), Rows: to('File'), File: to(ACTION_NODE) };
	return await n8n.createWorkflow({ ...workflow, nodes: [...workflow.nodes, ...nodes], connections });
}

test('An import that a user stops starts no further job, and continues where it stopped when it is run again', async () => {
	const lastName = `file-${randomUUID()}`;
	const id = await importWorkflow(lastName);
	const found = async () => (await callSandbox('GET', `/v1/contacts?q=${lastName}&limit=1`)).body.total;
	// The service takes two jobs, of 5,000 rows each.
	const refusal = { status: 503, headers: { 'Retry-After': '30' } };
	await callSandbox('PUT', '/_sandbox/faults', [{ path: '/v1/jobs', method: 'POST', after: 2, ...refusal }]);
	const stopped = n8n.runWorkflow(id, TRIGGER);
	await until(async () => (await found()) >= 10_000);
	const [execution = ''] = await n8n.listExecutions(id);
	await n8n.stopExecution(execution);
	expect(await stopped).toMatchObject({ status: 'canceled' });
	await until(() => readFileSync(theWorld().log, 'utf8').includes('refused; stopped'));
	await callSandbox('PUT', '/_sandbox/faults', []);
	expect(await found()).toBe(10_000);

	const { data } = await n8n.runWorkflow(id, TRIGGER);
	const [item] = data.resultData.runData[ACTION_NODE]?.[0]?.data?.['main']?.[0] ?? [];
	expect(item?.json).toMatchObject({ complete: true, done: rows, failed: 0 });
	expect(await found()).toBe(rows);
});
