import { benchCount, benchMerge, benchNames } from './daily.ts';
import { benchFiles, benchFilesBesideN8n } from './files.ts';
import { benchNode } from './node.ts';
import { benchPeers } from './peers/bench-peers.ts';
import { publish } from './report.ts';
import { benchScale } from './scale/bench-scale.ts';
import { benchSync } from './sync.ts';
import { benchUndo } from './undo.ts';

/** The benchmarks: `npm run bench` runs all, `npm run bench sync` one, and `npm run bench sync 1000` a smaller one, whose results are only printed. */
const benchmarks: Record<string, (size?: number) => Promise<void>> = {
	node: async (size) => publish({ name: 'node', ours: 'node', bare: 'bare loop', rows: await benchNode(size) }, size === undefined),
	files: async (size) => {
		publish({ name: 'files', ours: 'node', bare: 'bare jobs', rows: await benchFiles(size) }, size === undefined);
		publish({ name: 'files-beside-n8n', ours: 'Import File', bare: 'Extract from File, Create', rows: await benchFilesBesideN8n(size) }, size === undefined);
	},
	names: async (size) => publish({ name: 'names', ours: 'with names', bare: 'without', rows: await benchNames(size) }, size === undefined),
	count: async (size) => publish({ name: 'count', ours: 'Count', bare: 'Get Many, Summarize', rows: await benchCount(size) }, size === undefined),
	merge: async (size) => publish({ name: 'merge', ours: 'node', bare: 'bare loop', rows: await benchMerge(size) }, size === undefined),
	peers: benchPeers,
	scale: benchScale,
	sync: async (size) => publish({ name: 'sync', ours: 'node', bare: 'bare loop', rows: await benchSync(size) }, size === undefined),
	undo: async (size) => publish({ name: 'undo', ours: 'node', bare: 'bare loop', rows: await benchUndo(size) }, size === undefined),
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
