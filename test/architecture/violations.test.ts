import { design } from './design.ts';
import { importsOf } from './imports.ts';
import { arrowsOf, brokenArrows, cycles, emptyNames, repeatedExports, repeatedFileNames } from './violations.ts';

const node = 'nodes/CrmPlatform';
const broken = (sources: Record<string, string>) =>
	brokenArrows(new Map(Object.entries(sources)), design);

test.each([
	['an upward arrow', `${node}/api/send.ts`, `import { run } from '../operations/get';`],
	['a package nobody allowed', `${node}/api/send.ts`, `import axios from 'axios';`],
	['the sandbox', `${node}/operations/get.ts`, `import '../../../sandbox/app';`],
	['a place on the same floor', `${node}/pickers/search.ts`, `import '../sync/settings';`],
	['the nodes, from the sandbox', 'sandbox/app.ts', `export * from '../nodes/CrmPlatform/model';`],
	['the tests', 'tools/build.ts', `import { server } from '../test/server.ts';`],
	['a type from far away', `${node}/api/send.ts`, `import type { Model } from '../model';`],
	['a value where types are allowed', 'tools/release.ts', `import { Workflow } from 'n8n-workflow';`],
	['a module loaded later', `${node}/api/send.ts`, `await import('../execute');`],
])('%s is a broken arrow', (_, file, text) => {
	expect(broken({ [file]: text })).toEqual([expect.stringContaining(`${file} may not import`)]);
});

test.each([
	[`${node}/operations/get.ts`, `import { send } from '../api/send';`],
	[`${node}/model.ts`, `import { type Send } from './api/send';`],
	[`${node}/api/page.ts`, `import { z } from 'zod/v4';`],
	[`${node}/api/page.ts`, `// import '../execute'\nconst text = "import '../execute'";`],
	['sandbox/domain/records/write.ts', `import type { Store } from '../../core/store/store.ts';`],
])('%s may hold %s', (file, text) => {
	expect(broken({ [file]: text })).toEqual([]);
});

test('a file that belongs to no part is reported', () => {
	expect(broken({ 'nodes/CrmPlatform/other/new.ts': '' })).toEqual([
		'nodes/CrmPlatform/other/new.ts belongs to no part of the design',
	]);
});

test('a cycle is found, through an index file and types too', () => {
	const sources = new Map([
		['a.ts', `import './b';`],
		['b/index.ts', `import type { A } from '../c.ts';`],
		['c.ts', `import './a'; import './d';`],
		['d.ts', ''],
	]);
	expect(cycles(importsOf(sources))).toEqual(['a.ts → b/index.ts → c.ts → a.ts']);
});

test('two parts of a design that allow each other are a cycle', () => {
	const parts = {
		store: { files: ['store/*'], imports: ['records', 'node:fs'] },
		records: { files: ['records/*'], imports: [], types: ['st*'] },
	};
	expect(cycles(arrowsOf(parts))).toEqual(['store → records → store']);
});

test('a name that says nothing is reported', () => {
	expect(emptyNames(['api/apiUtils.ts', 'api/pages.ts', 'manager/pages.ts'])).toEqual([
		'api/apiUtils.ts',
		'manager/pages.ts',
	]);
});

test('a name that one file exports and another one declares is reported', () => {
	const sources = new Map([
		['a.ts', 'export const latest = 1; export type Page = string; const inner = 2;'],
		['b.ts', 'function latest() {} const inner = 3;'],
		['c.ts', `export { latest } from './a'; interface Page {} const Page = 1; class Other { latest = 1 }`],
	]);
	expect(repeatedExports(sources)).toEqual([
		'latest of a.ts is also declared in b.ts',
		'Page of a.ts is also declared in c.ts',
	]);
	expect(repeatedExports(sources, 'exported')).toEqual([]);
	const again = new Map([...sources, ['d.ts', 'export function latest() {}']]);
	expect(repeatedExports(again, 'exported')).toEqual(['latest of d.ts is also exported in a.ts']);
});

test('a name that two files share is reported', () => {
	expect(repeatedFileNames(['sync/plan.ts', 'undo/plan.ts', 'undo/plans.ts'])).toEqual(['plan.ts: sync/plan.ts and undo/plan.ts']);
});
