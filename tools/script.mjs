import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { runInPlace } from './child.mjs';
import { installDependencies } from './dependencies.mjs';
import { withNodeFirst } from './environment.mjs';
import { Failure, reportFailure } from './failure.mjs';
import { installN8n } from './n8n.mjs';
import { findNode24 } from './node24.mjs';

/**
 * The launcher's options, which precede the script's file:
 *
 * - `--without-tests`: the script does not need the packages of test/package.json.
 * - `--with-n8n`: the script runs n8n, which is then installed while the packages are.
 */
const knownOptions = ['--without-tests', '--with-n8n'];

/**
 * Splits the launcher's arguments.
 *
 * @param {string[]} args
 * @throws {Failure} if there is no file, or an unknown option before it
 */
export function parseArguments(args) {
	const index = args.findIndex((arg) => !arg.startsWith('--'));
	const options = index < 0 ? args : args.slice(0, index);
	const file = args[index];
	if (!file || options.some((option) => !knownOptions.includes(option))) {
		throw new Failure(
			`Usage: node tools/launch.mjs [${knownOptions.join('] [')}] <file.ts> [arguments of the file]`,
		);
	}
	return {
		file,
		args: args.slice(index + 1),
		tests: !options.includes('--without-tests'),
		n8n: options.includes('--with-n8n'),
	};
}

/**
 * Runs one of the project's TypeScript files under Node 24, in the clone's root, after installing
 * missing packages. This process ends with its exit code.
 *
 * @param {string[]} launcherArguments the launcher's options, the file relative to the root, its arguments
 */
export async function runScript(launcherArguments) {
	try {
		const { file, args, tests, n8n } = parseArguments(launcherArguments);
		const root = resolve(dirname(fileURLToPath(import.meta.url)), '..');
		const node = await findNode24();
		const installations = [installDependencies(root, node, tests)];
		if (n8n) installations.push(installN8n(node).then(() => {}));
		await Promise.all(installations);
		process.exitCode = await runInPlace(node, [resolve(root, file), ...args], {
			cwd: root,
			env: withNodeFirst(process.env, node),
		});
	} catch (error) {
		reportFailure(error);
	}
}
