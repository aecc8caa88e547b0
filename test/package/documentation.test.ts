import { existsSync, globSync, readFileSync } from 'node:fs';
import { dirname, relative, resolve } from 'node:path';

import contract from '../../contract/openapi.json';
import { resources } from '../../nodes/CrmPlatform/resources';
import { pageWithScopes, type SecuredContract, scopesFile } from '../../tools/scopes.ts';
import { connectorDesign } from '../architecture/connector-design.ts';
import { sandboxDesign } from '../architecture/sandbox-design.ts';

const root = resolve(__dirname, '../..');
const read = (file: string) => readFileSync(resolve(root, file), 'utf8');
const pages = ['README.md', 'CONTRIBUTING.md', ...globSync('{bench,test}/*.md', { cwd: root }), ...globSync('docs/**/*.md', { cwd: root })];

const architecture = 'docs/development/architecture.md';

const wordsIn = (page: string) => read(page).split(/\s+/).filter(Boolean).length;

test('the README and CONTRIBUTING are read in two minutes each', () => {
	expect(wordsIn('README.md')).toBeLessThanOrEqual(500);
	expect(wordsIn('CONTRIBUTING.md')).toBeLessThanOrEqual(600);
});

test('a page of the guide is read in five minutes', () => {
	const long = globSync('docs/guide/*.md', { cwd: root }).map((page) => [page, wordsIn(page)] as const).filter(([, words]) => words > 900);
	expect(long).toEqual([]);
});

test('all pages are read in two hours', () => {
	const words = ['README.md', 'CONTRIBUTING.md', ...globSync('docs/**/*.md', { cwd: root })].map(wordsIn);
	expect(words.reduce((sum, count) => sum + count)).toBeLessThanOrEqual(27_000);
});

test('a page has one table of what may happen, of 30 rows at most', () => {
	const long = globSync('docs/reference/*.md', { cwd: root }).filter((page) => {
		const faults = read(page).split('\n\n').filter((part) => /^\|.*\| What (happens|the node does)\b/.test(part));
		return faults.length > 1 || faults.some((table) => table.split('\n').length > 2 + 30);
	});
	expect(long).toEqual([]);
});

test('links lead to pages and pictures that exist', () => {
	const linksIn = (page: string) =>
		[...read(page).matchAll(/\]\(([^)\s]+)\)|src="([^"]+)"/g)].map(([, link, source]) => link ?? source ?? '');
	const broken = pages.flatMap((page) =>
		linksIn(page)
			.filter((link) => !/^(https?:|mailto:|#)/.test(link))
			.map((link) => link.replace(/#.*$/, ''))
			.filter((link) => !existsSync(resolve(root, dirname(page), link)))
			.map((link) => `${page}: ${link}`),
	);
	expect(broken).toEqual([]);
});

const withoutComments = (code: string) => code.replace(/\/\*.*?\*\/|(?<!:)\/\/[^\n]*/gs, '');

const slugOf = (heading: string) => heading.toLowerCase().replace(/[^\w\- ]/g, '').replaceAll(' ', '-');

function anchorsOf(page: string): string[] {
	const text = read(page);
	const headings = [...text.matchAll(/^#+ (.*)$/gm)].map(([, heading]) => slugOf(heading!));
	return [...headings, ...[...text.matchAll(/<a id="([^"]+)">/g)].map(([, id]) => id!)];
}

test('links into a page lead to a heading or an anchor of it', () => {
	const broken = pages.flatMap((page) =>
		[...read(page).matchAll(/\]\(([^)\s:]*)#([^)\s]+)\)/g)]
			.map(([, path, anchor]) => [relative(root, resolve(root, path ? dirname(page) : '', path || page)), anchor!] as const)
			.filter(([target, anchor]) => !anchorsOf(target).includes(anchor))
			.map(([target, anchor]) => `${page}: ${target}#${anchor}`),
	);
	expect(broken).toEqual([]);
});

test('links to the documentation that n8n shows lead to pages and headings that exist', () => {
	const { homepage } = JSON.parse(read('package.json')) as { homepage: string };
	const [repository] = homepage.split('#');
	const files = globSync('{nodes,credentials}/**/*.{node.json,ts}', { cwd: root });
	const links = files.flatMap((file) =>
		[...read(file).matchAll(new RegExp(`${repository}([^'"\\s)]*)`, 'g'))].map(([, link]) => [file, link!] as const),
	);
	const isBroken = (link: string) => {
		const [, page = '', , anchor] = /^\/blob\/main\/([^#]+)(#(.+))?$/.exec(link) ?? [];
		if (link === '#readme') return false;
		return page === '' || !existsSync(resolve(root, page)) || (anchor !== undefined && !anchorsOf(page).includes(anchor));
	};
	expect(links.length).toBeGreaterThan(10);
	expect(links.filter(([, link]) => isBroken(link))).toEqual([]);
});

test.each([
	['nodes/CrmPlatform/', connectorDesign],
	['sandbox/', sandboxDesign],
])('the architecture lists the places of %s with their floors, from the top to the ground', (folder, design) => {
	const [, table = ''] = read(architecture).split(`| Floor | Place in \`${folder}\` | Content |`);
	const [rows = ''] = table.split('\n\n');
	const listed = [...rows.matchAll(/^\| (\d+) \|(.+?)\|/gm)].flatMap(([, floor, cell]) =>
		[...cell!.matchAll(/`(.+?)\/?`/g)].map(([, place]): [string, number] => [folder + place, Number(floor)]));
	const isPlace = (name: string) => name.startsWith(folder);
	// The more places one may import, the higher its floor.
	const imported = Object.entries(design).filter(([name]) => isPlace(name)).map(([name, { imports }]) =>
		[name.replace(/\/\*\*$/, ''), imports.filter(isPlace).length] as const);
	const heights = [...new Set(imported.map(([, count]) => count))].sort((a, b) => a - b);
	const places = imported.map(([name, count]): [string, number] => [name, heights.indexOf(count) + 1]);
	expect(new Map(listed)).toEqual(new Map(places));
	expect(listed.map(([, floor]) => floor)).toEqual(listed.map(([, floor]) => floor).sort((a, b) => b - a));
});

test('the pages on development name files and identifiers that exist', () => {
	const files = globSync('{nodes,credentials,sandbox,demo,tools,bench,test}/**/*.{ts,mjs}', { cwd: root });
	const sources = files.map((file) => `${file}\n${read(file)}`).join('\n');
	const words = new Set(sources.match(/\w+/g));
	const text = ['CONTRIBUTING.md', architecture, 'docs/development/how-to.md'].map(read).join('\n');
	const code = [...text.matchAll(/```\w*\n([^]+?)```|`([^`]+)`/g)].map(([, block, span]) => block ?? span).join('\n');
	const names = code.match(/\b[A-Za-z]+[a-z][A-Z]\w*/g) ?? [];
	const paths = code.match(/(?<![\w./-])[\w-]+(\/[\w.-]+)+/g) ?? [];
	const exists = (path: string) =>
		['', '.ts'].some((ending) => ['.', 'nodes/CrmPlatform', 'sandbox'].some((folder) => existsSync(resolve(root, folder, path + ending))));
	expect(names.filter((name) => !words.has(name))).toEqual([]);
	expect(paths.filter((path) => !exists(path))).toEqual([]);
});

test('the architecture says where names of a CRM are hard-coded', () => {
	const folder = 'nodes/CrmPlatform/';
	const [, section = ''] = read(architecture).split('## Hard-coded names');
	const places = [...section.matchAll(/`([\w/]+(?:\/|\.ts))`/g)].map(([, place]) => folder + place);
	const readers = globSync(`${folder}api/openapi/*.ts`, { cwd: root }).map(read).join('\n');
	const extensions = new Set([...readers.matchAll(/'(x-[a-z-]+)'/g)].map(([, name]) => name!));
	// What n8n stores or shows, and what an AI builder reads as an example.
	const ownFiles = [
		'output', 'files/fileRow', 'parameters/', 'builderHints', 'importing/', 'nodeAsTool/', 'api/signIn',
		'changes/',
	];
	const ownNames = new RegExp(`CrmPlatform/(${ownFiles.join('|')})\\w*\\.ts$`);
	const naming = globSync(`${folder}**/*.ts`, { cwd: root })
		.filter((file) => /\b[a-z]+_[a-z]+\b|'x-[a-z]|'\/[a-z-]+'/.test(withoutComments(read(file))))
		.filter((file) => !ownNames.test(file));
	expect(naming.filter((file) => !places.some((place) => file.startsWith(place)))).toEqual([]);
	expect(places.filter((place) => !existsSync(resolve(root, place)))).toEqual([]);
	expect([...extensions].sort()).toEqual([...new Set(section.match(/x-[a-z-]+/g))].sort());
});

test('every picture is shown, and npm test -- --pictures takes it', () => {
	const pageTexts = pages.map(read).join('\n');
	const testSources = globSync('test/n8n/**/*.ts', { cwd: root }).map(read).join('\n');
	const pictures = globSync('docs/**/*.png', { cwd: root }).map((file) => file.split('/').at(-1)!);
	expect(pictures.filter((file) => !pageTexts.includes(`pictures/${file}`))).toEqual([]);
	expect(pictures.filter((file) => !testSources.includes(`'${file.replace('.png', '')}'`))).toEqual([]);
});

test('every page is reached from the README', () => {
	const reached = new Set(['README.md']);
	for (const page of reached) {
		const links = read(page).matchAll(/\]\(([^)\s#:]+\.md)[^)\s:]*\)/g);
		for (const [, link] of links) reached.add(relative(root, resolve(root, dirname(page), link!)));
	}
	expect(pages.filter((page) => page.startsWith('docs/') && !reached.has(page))).toEqual([]);
});

test('every decision has a date', () => {
	const decisions = read('docs/development/decisions.md').split('\n\n').filter((part) => part.startsWith('**'));
	expect(decisions.length).toBeGreaterThan(20);
	expect(decisions.filter((decision) => !/^\*\*[^*]+\*\*\s\(\d{4}-\d\d-\d\d\)/.test(decision))).toEqual([]);
});

test('the page on operations names every resource, and the operations that only some of them have', () => {
	const page = read('docs/reference/operations.md');
	const names = resources.flatMap(({ name, operations }) => [name, ...operations.map(({ option }) => option.name)]);
	// The page names record types in the plural, and separates words that n8n's own names join.
	const isNamed = (name: string) => {
		const plural = name.replace(/y$/, 'ie').toLowerCase();
		return page.includes(name) || page.toLowerCase().includes(`${plural}s`);
	};
	expect([...new Set(names)].filter((name) => !isNamed(name))).toEqual([]);
});

test('the page on scopes lists those of every operation; npm run contract writes it', () => {
	const page = read(scopesFile);
	expect(pageWithScopes(page, contract as unknown as SecuredContract, resources)).toBe(page);
	expect(page).toContain('| Deal | `deals:read` | `deals:write` |');
	expect(page).toContain('| Import File | write, `jobs:write`, `jobs:read` |');
});

test('the messages under Troubleshooting are messages of the package', () => {
	const plain = (text: string) => text.replace(/[’‘]/g, "'").replace(/\s+/g, ' ');
	const sources = plain(
		globSync('{nodes,credentials}/**/*.ts', { cwd: root }).map(read).map(withoutComments).join('\n').replace(/['`] \+\n\s*['`]/g, ''),
	);
	const rows = read('docs/reference/messages.md').split('\n').filter((line) => line.startsWith('| ')).slice(1);
	const messages = rows.map((row) => row.split('|')[1]!.trim());
	expect(messages.length).toBeGreaterThan(5);
	const missing = messages.filter((message) =>
		message.split('…').some((part) => !sources.includes(plain(part).replace(/^: /, '').trim())),
	);
	expect(missing).toEqual([]);
});
