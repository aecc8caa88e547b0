import { createHash } from 'node:crypto';
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { withLock } from './lock.mjs';
import { npm } from './npm.mjs';
import { showProgress } from './progress.mjs';

/**
 * Not `npm ci`, which refuses a lock file that lacks the optional packages of other systems. The types of
 * dependencies are listed because a machine that is set up for production would omit development dependencies.
 */
const installArguments = [
	'install',
	'--no-save',
	'--ignore-scripts',
	'--include=dev',
	'--include=optional',
];

/** Leaves out the packages of test/package.json, the one workspace. */
const withoutTests = '--workspaces=false';

/**
 * Installs the clone's packages if they are missing or differ from package-lock.json.
 *
 * @param {string} root the clone
 * @param {string} node the binary to install for
 * @param {boolean} tests whether to install the packages that only tests and checks need
 */
export async function installDependencies(root, node, tests) {
	if (areDependenciesCurrent(root, tests)) return;
	await withLock(
		join(root, '.tmp', 'dependencies.lock'),
		async () => {
			if (areDependenciesCurrent(root, tests)) return;
			await showProgress("Installing the project's packages (about a minute, once)", () =>
				npm(tests ? installArguments : [...installArguments, withoutTests], {
					subject: 'dependencies',
					cwd: root,
					node,
				}),
			);
			writeFileSync(stampFile(root), lockHash(root));
		},
		() => console.log("Waiting for another process that is installing the project's packages ..."),
	);
}

/**
 * Whether node_modules matches package-lock.json: either this program stamped it with that file's hash,
 * or npm, run by hand, finished after that file was last written.
 *
 * @param {string} root the clone
 * @param {boolean} tests whether the packages of the tests are required, too
 */
export function areDependenciesCurrent(root, tests) {
	// npm writes this file last: without it, an installation was interrupted.
	const npmRecord = join(root, 'node_modules', '.package-lock.json');
	if (!existsSync(npmRecord)) return false;
	if (tests && !hasTestPackages(root)) return false;
	const stamp = stampFile(root);
	if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lockHash(root)) return true;
	return statSync(npmRecord).mtimeMs >= statSync(join(root, 'package-lock.json')).mtimeMs;
}

/**
 * Whether the packages of the tests are installed: an installation for `npm start` passes the other checks without them.
 *
 * @param {string} root
 */
function hasTestPackages(root) {
	const manifest = JSON.parse(readFileSync(join(root, 'test', 'package.json'), 'utf8'));
	const names = Object.keys(manifest.devDependencies);
	return names.every((name) => existsSync(join(root, 'node_modules', name)));
}

/** @param {string} root */
function stampFile(root) {
	return join(root, 'node_modules', '.package-lock.sha256');
}

/** @param {string} root */
function lockHash(root) {
	return createHash('sha256').update(readFileSync(join(root, 'package-lock.json'))).digest('hex');
}
