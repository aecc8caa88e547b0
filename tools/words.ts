import { writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';
import { buildPackage } from './build.ts';
import { reportFailure } from './failure.mjs';
import { readWordList, wordListFile } from './word-list.ts';

/** Writes the list of every text that users read. */
async function main(): Promise<void> {
	await buildPackage();
	const require = createRequire(import.meta.url);
	const built = (file: string) => resolve('dist', file.replace(/\.ts$/, '.js'));
	writeFileSync(wordListFile, readWordList((file) => require(built(file)) as object));
}

main().catch(reportFailure);
