import { createWriteStream } from 'node:fs';
import { once } from 'node:events';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { IDataObject, INode } from 'n8n-workflow';
import { inARow, workflowNode } from '../demo/workflow-node.ts';
import type { Row } from './measure.ts';
import { growthOf } from './peak-memory.ts';
import { type RealN8n, startRealN8n } from './real-n8n.ts';
import type { ServerProcess } from './server-process.ts';

/**
 * Megabytes of V8's old generation, of which n8n 2.41 needs about 210. Without a limit, V8 postpones full
 * collections until the heap is five times as large, so that memory use says nothing about what is needed.
 */
const heapLimit = 350;

/**
 * The peak growth of a real n8n with a limited heap while a file goes through it, including everything that
 * n8n itself does, beside n8n's memory before. Files are stored on disk.
 *
 * @param rows of the file to import; all contacts are exported then
 */
export async function memoryInN8n(server: ServerProcess, folder: string, rows: number): Promise<Row[]> {
	const n8n = await startRealN8n({
		N8N_DEFAULT_BINARY_DATA_MODE: 'filesystem',
		N8N_RESTRICT_FILE_ACCESS_TO: folder,
		NODE_OPTIONS: `--max-old-space-size=${heapLimit}`,
	});
	try {
		const data = { baseUrl: server.url, apiKey: 'KEY', descriptionUrl: '' };
		const credentialId = await n8n.client.createCredential({ name: 'Sandbox', type: 'crmPlatformApi', data });
		const imported = async (count: number) => {
			const fileSelector = await csvOf(folder, count);
			const [item] = await run(n8n, credentialId, [
				node('n8n-nodes-base.readWriteFile', 1.1, { operation: 'read', fileSelector, options: {} }),
				node(connector, 1, { resource: 'file', operation: 'importFile', preview: false, options: {} }),
			]);
			if (item?.json['done'] !== count) throw new Error(`${String(item?.json['done'])} of ${count} rows were imported.`);
		};
		const exported = async () =>
			await run(n8n, credentialId, [node(connector, 1, { resource: 'file', operation: 'exportFile', options: {} })]);
		await imported(10);
		const row = async (label: string, work: () => Promise<unknown>): Promise<Row> => {
			const bare = n8n.memory();
			return { label, unit: 'MB', ours: await growthOf(() => n8n.memory(), 250, work), bare };
		};
		const labelOf = (work: string) => `memory of n8n with ${heapLimit} MB of heap, ${work} of ${rows.toLocaleString('en')}`;
		return [
			await row(labelOf('import'), async () => await imported(rows)),
			await row(labelOf('export'), async () => await exported()),
		];
	} finally {
		await n8n.stop();
	}
}

const connector = 'n8n-nodes-crm-platform.crmPlatform';

const node = (type: string, typeVersion: number, parameters: IDataObject): INode => workflowNode(type, type, typeVersion, parameters);

/**
 * Runs nodes one after another. It looks for the end in n8n's database, since polling n8n for the execution a
 * few times a second would make n8n grow by 10 MB a second.
 *
 * @returns the items of the last node
 */
async function run({ client, query }: RealN8n, credentialId: string, steps: INode[]) {
	const credentials = { crmPlatformApi: { id: credentialId, name: 'Sandbox' } };
	const withCredentials = steps.map((step) => (step.type === connector ? { ...step, credentials } : step));
	const nodes = [node('n8n-nodes-base.manualTrigger', 1, {}), ...withCredentials];
	const id = await client.createWorkflow({ name: 'Files', nodes, connections: inARow(nodes) });
	const execution = await client.startWorkflow(id, nodes[0]!.name);
	const running = `SELECT id FROM execution_entity WHERE id = ${execution} AND status IN ('new', 'running')`;
	while (query(running).length > 0) await sleep(100);
	const { status, data } = await client.waitForExecution(execution);
	if (status !== 'success') throw new Error(`The workflow ended with ${status}: ${JSON.stringify(data.resultData.error)}`);
	return data.resultData.runData[nodes.at(-1)!.name]?.[0]?.data?.['main']?.[0] ?? [];
}

async function csvOf(folder: string, rows: number): Promise<string> {
	const path = join(folder, `people-${rows}.csv`);
	const file = createWriteStream(path);
	file.write('last_name,email,job_title,external_id\n');
	for (let i = 0; i < rows; i++) {
		const line = `Moreno ${i},in-n8n.${rows}.${i}@files.example,"Head of Purchasing, Spare Parts",in-n8n-${rows}-${i}\n`;
		if (!file.write(line)) await once(file, 'drain');
	}
	file.end();
	await once(file, 'finish');
	return path;
}
