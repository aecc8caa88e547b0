import { createReadStream, mkdtempSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import type { IBinaryData, IDataObject, INodeExecutionData, INodeParameters } from 'n8n-workflow';
import { type Parts, runIn } from '../test/support/node-context.ts';
import { automatic, connectorParts, connectorTo } from './connector.ts';
import { peakGrowth } from './peak-memory.ts';

/** The only argument of the process, as JSON. */
export interface FileTask {
	url: string;
	/** `extract` is what n8n has without our node: Extract from File, then batches of Create. */
	work: 'import' | 'export' | 'extract';
	/** When reading: the CSV file, and a small one to warm up with. */
	file?: string;
	warmUp?: string;
	/** Where n8n is installed, for its own nodes. */
	n8n?: string;
}

/** The output of the process, as JSON. */
export interface FileWork {
	/** Records written or exported. */
	count: number;
	milliseconds: number;
	/** Peak resident memory above that of n8n-core and the node, in MB. */
	growth: number;
}

/** The part of n8n's class that is used here. */
interface Store {
	config: { mode: string; localStoragePath: string };
	init(): Promise<void>;
	store(location: object, content: unknown, data: IBinaryData): Promise<IBinaryData>;
}

/** Processes one file in a separate process, which was started with `--expose-gc`. */
const task = JSON.parse(process.argv[2]!) as FileTask;
const parts = connectorParts();
const load = createRequire(resolve('package.json')) as (name: string) => unknown;
const { BinaryDataService } = load('n8n-core') as { BinaryDataService: unknown };
const { Container } = load('@n8n/di') as { Container: { get(type: unknown): Store } };
const folder = mkdtempSync(join(tmpdir(), 'bench-binary-'));
const binary = Container.get(BinaryDataService);
Object.assign(binary.config, { mode: 'filesystem', localStoragePath: folder });
await binary.init();

const works: Record<FileTask['work'], (file: string) => Promise<number>> = {
	async import(file) {
		const [item] = await run(parts, { resource: 'file', operation: 'importFile', preview: false }, await stored(file));
		return Number(item?.json['done']);
	},
	async export() {
		const [item] = await run(parts, { resource: 'file', operation: 'exportFile' });
		return Number(item?.json['records']);
	},
	async extract(file) {
		const extracted = await run(extractor(), { operation: 'csv', binaryPropertyName: 'data' }, await stored(file));
		const items = extracted.map(({ json }) => json);
		return (await connectorTo(task.url).create(items, automatic)).length;
	},
};

const work = works[task.work];
if (task.warmUp === undefined) await connectorTo(task.url).contacts({ options: { onePage: true } });
else await work(task.warmUp);
let count = 0;
let milliseconds = 0;
const growth = await peakGrowth(async () => {
	const start = performance.now();
	count = await work(task.file ?? '');
	milliseconds = performance.now() - start;
});
rmSync(folder, { recursive: true });
const done: FileWork = { count, milliseconds, growth };
process.stdout.write(JSON.stringify(done), () => process.exit());

async function run(nodeParts: Parts, parameters: IDataObject, data?: IBinaryData): Promise<INodeExecutionData[]> {
	const credential = { baseUrl: task.url, apiKey: 'KEY' };
	const setup = { credential, parameters: { options: {}, ...parameters } as INodeParameters };
	return (await runIn(nodeParts, { ...setup, ...(data && { files: { data } }) })).items;
}

async function stored(file: string): Promise<IBinaryData> {
	const location = { type: 'execution', workflowId: 'bench', executionId: 'before' };
	return await binary.store(location, createReadStream(file), { data: '', mimeType: 'text/csv' });
}

function extractor(): Parts {
	const path = ['n8n-nodes-base', 'dist', 'nodes', 'Files', 'ExtractFromFile', 'ExtractFromFile.node.js'];
	const { ExtractFromFile } = load(join(task.n8n ?? '', 'node_modules', ...path)) as {
		ExtractFromFile: new () => Parts['node'];
	};
	return { ...parts, node: new ExtractFromFile() };
}
