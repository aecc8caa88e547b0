import { cpSync, globSync, rmSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { runGroup } from './child.mjs';
import { Failure, reportFailure } from './failure.mjs';

/** What n8n reads beside the compiled code: icons, codex files and output previews. */
const COPIED = [
	'icons/*.svg',
	'{nodes,credentials}/**/*.svg',
	'nodes/**/*.node.json',
	'nodes/**/__schema__/**/*.json',
];

/**
 * Builds the package into dist, from nothing. The clone must be the current folder.
 *
 * @throws {Failure} when the sources do not compile; the compiler has said why.
 */
export async function buildPackage(): Promise<void> {
	rmSync('dist', { recursive: true, force: true });
	const compiler = resolve('node_modules', 'typescript', 'bin', 'tsc');
	const code = await runGroup(process.execPath, [compiler, '-p', 'tsconfig.json'], {
		stdio: 'inherit',
	});
	if (code !== 0) throw new Failure('The package was not built: its sources do not compile.');
	for (const file of globSync(COPIED)) cpSync(file, join('dist', file));
}

if (process.argv[1] === resolve('tools', 'build.ts')) buildPackage().catch(reportFailure);
