import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join, resolve } from 'node:path';

import { useFolder } from '../../support/temporary-folder.ts';
import { withDescription } from './assembled.ts';
import { contentFaults, importFaults } from './package-contents.ts';
import { manifestFaults, type Manifest } from './manifest.ts';
import { runScript } from './packed.ts';

const inFolder = useFolder();
const manifest = JSON.parse(readFileSync(resolve(__dirname, '../../../package.json'), 'utf8')) as Manifest;

test.each<[string, Manifest]>([
	['repository must be on GitHub', { repository: { url: 'https://git.example/crm' } }],
	['must not have optionalDependencies', { optionalDependencies: {} }],
])('a manifest is refused: %s', (fault, change) => {
	expect(manifestFaults({ ...manifest, ...change })).toEqual([fault]);
});

test('an unexpected file in the tarball is reported, as are a missing codex and a missing icon', () => {
	const n8n = { nodes: ['dist/nodes/A.node.js'], credentials: [] };
	const loaded = [{ file: 'dist/nodes/A.node.js', icon: 'file:../icons/a.svg' }];
	const files = ['package.json', 'dist/nodes/A.node.js', 'sandbox/main.ts'];
	expect(contentFaults(files, { n8n }, loaded)).toEqual([
		'sandbox/main.ts does not belong here',
		'dist/nodes/A.node.json is missing',
		'dist/icons/a.svg is missing',
	]);
});

test('a module that n8n does not provide is reported, even if it is loaded late', () => {
	const text = `
		const zod = require('zod/v4');
		const near = require('./near');
		async function later() { await Promise.resolve().then(() => require('axios')); }
		const far = require('../test/far');`;
	const sources = new Map([['dist/a.js', text], ['dist/near.js', '']]);
	const faults = importFaults(sources, [...sources.keys()]);
	expect(faults).toEqual(['dist/a.js loads axios', expect.stringContaining('dist/a.js loads test/far')]);
});

const source = `
import { NodeConnectionTypes } from 'n8n-workflow';
export class Example implements INodeType {
	description: INodeTypeDescription = { ...assembled() };
	methods = {};
}`;

test('a description is written out in place, and everything around it stays', () => {
	const description = { name: 'it’s', inputs: ['main'], 'odd-key': [{ default: 'main' }] };
	expect(withDescription(source, description).replace(/\s+/g, ' ')).toBe(
		source
			.replace(
				'{ ...assembled() }',
				'{ name: "it’s", inputs: [ NodeConnectionTypes.Main, ], ' +
					'"odd-key": [ { default: "main", }, ], }',
			)
			.replace(/\s+/g, ' '),
	);
});

test('a warning is reported though the gate lets it pass', () => {
	const folder = inFolder('source');
	mkdirSync(folder);
	const { homepage: _, ...withoutHomepage } = manifest;
	writeFileSync(join(folder, 'package.json'), JSON.stringify(withoutHomepage));
	const [{ passed, complaints }] = JSON.parse(runScript('scan.ts', ['source', folder], folder));
	expect(passed).toBe(true);
	expect(complaints).toContainEqual(expect.stringContaining('"homepage"'));
});
