import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInPlace } from './child.mjs';
import { installDependencies } from './dependencies.mjs';
import { withNodeFirst } from './environment.mjs';
import { Failure, reportFailure } from './failure.mjs';
import { findNode24 } from './node24.mjs';

/**
 * Runs one of the project's TypeScript files under Node 24, in the clone's root, after installing
 * whatever is missing. Our process ends with its exit code.
 *
 * @param {string[]} args the file, relative to the root, and its arguments.
 */
export async function runScript([file, ...args]) {
	try {
		if (!file) throw new Failure('Usage: node tools/launch.mjs <file.ts> [arguments]');
		const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
		const node = await findNode24();
		await installDependencies(root, node);
		process.exitCode = await runInPlace(node, [resolve(root, file), ...args], {
			cwd: root,
			env: withNodeFirst(process.env, node),
		});
	} catch (error) {
		reportFailure(error);
	}
}
