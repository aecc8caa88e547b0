import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join, resolve } from 'node:path';
import { withBuiltPackage } from './build.ts';
import { reportFailure } from './failure.mjs';
import { modulesFolder } from './link.ts';
import { pageWithScopes, type SecuredContract, type SecuredMenu, scopesFile } from './scopes.ts';
import { readWordList, wordListFile } from './word-list.ts';

/** Writes the files derived from the nodes: the list of all texts users read, and the scopes of each operation. */
async function main(): Promise<void> {
	const require = createRequire(import.meta.url);
	const built = (file: string) => resolve('dist', file.replace(/\.ts$/, '.js'));
	mkdirSync(dirname(wordListFile), { recursive: true });
	writeFileSync(wordListFile, readWordList((file) => require(built(file)) as object));
	const contract = JSON.parse(readFileSync('contract/openapi.json', 'utf8')) as SecuredContract;
	const { resources } = require(join(modulesFolder, 'nodes/CrmPlatform/resources/index.js')) as { resources: SecuredMenu[] };
	writeFileSync(scopesFile, pageWithScopes(readFileSync(scopesFile, 'utf8'), contract, resources));
}

withBuiltPackage(main).catch(reportFailure);
