import { globSync, readFileSync, statSync } from 'node:fs';
import { dirname, resolve } from 'node:path';

import { kindsByPrecedence } from '../../nodes/CrmPlatform/fields/field';
import { design } from './design.ts';
import { importsOf, type Import } from './imports.ts';
import { arrowsOf, brokenArrows, cycles, emptyNames, repeatedExports, repeatedFileNames } from './violations.ts';

const root = resolve(__dirname, '../..');
const folders = ['nodes', 'credentials', 'sandbox', 'demo', 'tools', 'bench', 'test'];
const files = globSync(`{${folders.join(',')}}/**/*.{ts,mjs}`, { cwd: root }).sort();
const sources = new Map(files.map((file) => [file, readFileSync(resolve(root, file), 'utf8')]));

test('every script of package.json reaches only files that Node loads by the names they are imported by', () => {
	const { scripts } = JSON.parse(readFileSync(resolve(root, 'package.json'), 'utf8')) as { scripts: Record<string, string> };
	const reached = new Set(Object.values(scripts).flatMap((script) => script.match(/\S+\.(ts|mjs)/g) ?? []));
	const imports = importsOf(sources).filter(({ name, typeOnly }) => !typeOnly && name.startsWith('.'));
	for (const file of reached) for (const { from, to } of imports) if (from === file) reached.add(to);
	const isFile = ({ from, name }: Import) => statSync(resolve(root, dirname(from), name), { throwIfNoEntry: false })?.isFile();
	expect(reached).toContain('test/n8n/versions/use-node.ts');
	expect(imports.filter((each) => reached.has(each.from) && !isFile(each))).toEqual([]);
});

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

test('one file names the member of a record with its custom fields', () => {
	const code = (text: string) => text.replace(/\/\*.*?\*\/|(?<!:)\/\/[^\n]*/gs, '');
	const naming = [...sources].filter(
		([file, text]) => file.startsWith('nodes/') && /(?<! )\bcustom_fields|\bcustom_fields:/.test(code(text)),
	);
	expect(naming.map(([file]) => file)).toEqual(['nodes/CrmPlatform/fields/field.ts']);
});

test('only the table of kinds says what a kind of field decides: nothing compares a kind with a name', () => {
	const names = `'(${kindsByPrecedence.join('|')})'`;
	const kind = '[\\w.?]*(kind|items)\\)?';
	const compared = new RegExp(
		`${kind} [!=]== ${names}|${names} [!=]== ${kind}(?!\\w)|case ${names}:|${names}[^\\]\n]*\\]\\.includes\\(${kind}(?!\\w)`, 'i',
	);
	const comparing = [...sources].filter(([file, text]) => file.startsWith('nodes/') && compared.test(text));
	expect(comparing.map(([file]) => file)).toEqual([]);
});

test('no file imports itself, not even through others', () => {
	expect(cycles(importsOf(sources))).toEqual([]);
});

test('every file is named for what it holds', () => {
	expect(emptyNames(files)).toEqual([]);
});

const within = (areas: RegExp) => new Map([...sources].filter(([file]) => areas.test(file)));

test.each([
	['the package', /^(nodes|credentials)\//],
	['the sandbox', /^sandbox\//],
])('one exported name means one thing in %s', (_, areas) => {
	expect(repeatedExports(within(areas))).toEqual([]);
});

test.each([
	['the tests', /^test\//],
	['the tools', /^(tools|demo|bench)\//],
])('no two files of %s export one name', (_, areas) => {
	expect(repeatedExports(within(areas), 'exported')).toEqual([]);
});

test.each([
	['the package', /^(nodes|credentials)\//],
	['the sandbox', /^sandbox\//],
	['the tools', /^(tools|demo|bench)\//],
	// A subject is tested at several levels, by files of one name, and each configuration has its entry points.
	['what tests share', /^test\/.*(?<!\.test|\/run|\/start|\/stop)\.m?ts$/],
])('one file name means one thing in %s', (_, areas) => {
	expect(repeatedFileNames(within(areas).keys())).toEqual([]);
});

describe('every request passes the queue of its credential', () => {
	const shipped = [...sources].filter(([file]) => /^(nodes|credentials)\//.test(file));
	const naming = (name: RegExp) => shipped.filter(([, text]) => name.test(text)).map(([file]) => file.replace('nodes/CrmPlatform/', ''));

	test('since one module sends', () => {
		expect(naming(/\bhttpRequest|\brequest(With|OAuth)|helpers\.request\b|\bfetch\(/)).toEqual(['api/http/transport.ts']);
		expect(naming(/\bhelpers\b[^.]*request\b|ICredentialTestFunctions\['helpers'\]/)).toEqual([
			'api/http/transport.ts', 'pickers/testCredential.ts',
		]);
	});

	test('since n8n sends nothing itself, neither for nodes nor for credentials', () => {
		expect(naming(/\b(requestDefaults|routing|preAuthentication|ICredentialTestRequest)\b/)).toEqual([]);
	});

	test('since only senders use that module; those for descriptions and tests of credentials are known', () => {
		expect(naming(/\b(apiKey|oauth2|anonymous|credentialTest)Transport\(/)).toEqual([
			'api/connection.ts', 'api/http/transport.ts', 'api/signIn.ts', 'pickers/testCredential.ts',
		]);
		expect(naming(/\bcreateSender\(/)).toEqual([
			'api/connection.ts', 'api/http/request.ts', 'api/openapi/document.ts', 'pickers/testCredential.ts',
		]);
		expect(naming(/\bqueueOptions: \{/)).toEqual(['api/connection.ts']);
		expect(naming(/\bnew RequestQueue\(/)).toEqual(['api/http/requestQueue.ts']);
	});
});
