import { createRequire } from 'node:module';
import { basename, resolve } from 'node:path';
import type { ICredentialType, INodeType } from 'n8n-workflow';

/*
 * node load.ts <folder of the unpacked package>: loads every node and credential the way n8n does,
 * by the class named like its file, and prints what it found as JSON on standard output.
 */
const [folder = ''] = process.argv.slice(2);
const require = createRequire(resolve(folder, 'package.json'));
const { n8n } = require('./package.json') as { n8n: { nodes: string[]; credentials: string[] } };

type Classes = Record<string, new () => unknown>;

function load(file: string) {
	const className = basename(file).split('.')[0] ?? '';
	const loadedClass = (require(`./${file}`) as Classes)[className];
	if (!loadedClass) throw new Error(`${file} has no class ${className}.`);
	return new loadedClass();
}

process.stdout.write(
	JSON.stringify({
		nodes: n8n.nodes.map((file) => ({ file, ...(load(file) as INodeType) })),
		credentials: n8n.credentials.map((file) => ({ file, ...(load(file) as ICredentialType) })),
	}),
);
