import { benchDefinitions } from './definitions.ts';
import { benchFiles, benchFilesBesideN8n } from './files.ts';
import { benchFirstRun } from './first-run.ts';
import { benchNode } from './node.ts';
import { benchPeers } from './peers/bench-peers.ts';
import { publish } from './report.ts';
import { benchBulk } from './sandbox-bulk.ts';
import { benchBeside } from './sandbox-beside.ts';
import { benchLoad } from './sandbox-load.ts';
import { benchSandbox } from './sandbox.ts';
import { benchScale } from './scale/bench-scale.ts';
import { benchSync } from './sync.ts';
import { benchTools } from './tools/bench-tools.ts';
import { benchTriggers } from './triggers.ts';
import { benchUndo } from './undo.ts';

/** The benchmarks: `npm run bench` runs all, `npm run bench sandbox` one, `npm run bench undo 5000` a smaller one. */
const benchmarks: Record<string, (size?: number) => Promise<void>> = {
	sandbox: async () => {
		publish({ name: 'sandbox', ours: 'sandbox', bare: 'bare server', rows: await benchSandbox() });
		publish({ name: 'sandbox-load', ours: 'while searched', bare: 'alone', rows: await benchLoad() });
		publish({ name: 'sandbox-beside', ours: 'beside it', bare: 'alone', rows: await benchBeside() });
		publish({ name: 'sandbox-bulk', ours: 'sandbox', bare: 'bare loop', rows: await benchBulk() });
	},
	node: async () =>
		publish({ name: 'node', ours: 'node', bare: 'bare loop', rows: await benchNode() }),
	files: async () => {
		publish({ name: 'files', ours: 'node', bare: 'bare jobs', rows: await benchFiles() });
		publish({
			name: 'files-beside-n8n',
			ours: 'Import File',
			bare: 'Extract from File, Create',
			rows: await benchFilesBesideN8n(),
		});
	},
	definitions: benchDefinitions,
	'first-run': async () =>
		publish({ name: 'first-run', ours: 'node', bare: 'HubSpot', rows: [await benchFirstRun()] }),
	peers: benchPeers,
	scale: benchScale,
	sync: async () =>
		publish({ name: 'sync', ours: 'node', bare: 'bare loop', rows: await benchSync() }),
	tools: benchTools,
	triggers: async () =>
		publish({ name: 'triggers', ours: 'trigger', bare: 'the other', rows: await benchTriggers() }),
	undo: async (size) =>
		publish({ name: 'undo', ours: 'node', bare: 'bare loop', rows: await benchUndo(size) }),
};

const isSize = (text: string): boolean => /^\d+$/.test(text);
const requestedNames = process.argv.slice(2).filter((text) => !isSize(text));
const [size] = process.argv.slice(2).filter(isSize).map(Number);
const unknown = requestedNames.find((name) => !Object.hasOwn(benchmarks, name));
if (unknown === undefined) {
	for (const name of requestedNames.length > 0 ? requestedNames : Object.keys(benchmarks)) await benchmarks[name]!(size);
} else {
	console.error(`There is no benchmark ${unknown}, only ${Object.keys(benchmarks).join(', ')}.`);
	process.exitCode = 2;
}
