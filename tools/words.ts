import { globSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { basename, resolve } from 'node:path';
import { buildPackage } from './build.ts';
import { reportFailure } from './failure.mjs';
import { type Described, wordList } from './word-list.ts';

/** Writes docs/words.md: every text of the package that users read. */
async function main(): Promise<void> {
	await buildPackage();
	const require = createRequire(import.meta.url);
	const created = (file: string): unknown => {
		const path = resolve('dist', file.replace(/\.ts$/, '.js'));
		const exported = require(path) as Record<string, new () => unknown>;
		const name = basename(file).split('.')[0] ?? '';
		const form = new exported[name]!();
		return (form as { description?: object }).description ?? form;
	};
	const forms = globSync('{nodes,credentials}/**/*.{node,credentials}.ts').sort().reverse();
	const sources = globSync('nodes/**/*.ts').sort();
	const list = wordList(
		forms.map((file) => created(file) as Described),
		sources.map((path) => ({ path, text: readFileSync(path, 'utf8') })),
	);
	writeFileSync('docs/words.md', list);
}

main().catch(reportFailure);
