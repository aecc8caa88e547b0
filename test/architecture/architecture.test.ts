import { globSync, readFileSync } from 'node:fs';
import { resolve } from 'node:path';

import { design } from './design.ts';
import { importsOf } from './imports.ts';
import { arrowsOf, brokenArrows, cycles, emptyNames, longFiles, repeatedExports } from './violations.ts';

const root = resolve(__dirname, '../..');
const folders = ['nodes', 'credentials', 'sandbox', 'demo', 'tools', 'bench', 'test'];
const files = globSync(`{${folders.join(',')}}/**/*.{ts,mjs}`, { cwd: root }).sort();
const sources = new Map(files.map((file) => [file, readFileSync(resolve(root, file), 'utf8')]));

test('files import only along the arrows of the design', () => {
	expect(brokenArrows(sources, design)).toEqual([]);
});

test('the arrows of the design lead in one direction', () => {
	expect(cycles(arrowsOf(design))).toEqual([]);
});

test('only the reader of the description knows the packaged copy', () => {
	const readers = importsOf(sources).filter(({ to }) => to === 'contract/openapi.json');
	const shipped = readers.map(({ from }) => from).filter((file) => file.startsWith('nodes/'));
	expect(shipped).toEqual(['nodes/CrmPlatform/api/openapi/document.ts']);
});

test('no file imports itself, not even through others', () => {
	expect(cycles(importsOf(sources))).toEqual([]);
});

test('every file of the package and the sandbox can be read without scrolling far', () => {
	const read = [...sources].filter(([file]) => /^(nodes|credentials|sandbox)\//.test(file));
	expect(longFiles(new Map(read), 250)).toEqual([]);
});

test('every file is named for what it holds', () => {
	expect(emptyNames(files)).toEqual([]);
});

test.each(['nodes', 'sandbox'])('one exported name means one thing in %s/', (folder) => {
	const inside = [...sources].filter(([file]) => file.startsWith(`${folder}/`));
	expect(repeatedExports(new Map(inside))).toEqual([]);
});
