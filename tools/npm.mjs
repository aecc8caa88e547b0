import { closeSync, existsSync, mkdirSync, openSync, readFileSync, realpathSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { logFile } from './cache.mjs';
import { runGroup } from './child.mjs';
import { searchPath, withNodeFirst } from './environment.mjs';
import { Failure } from './failure.mjs';
import { explainNpm } from './npm-errors.mjs';

/**
 * Runs npm and waits for it; its output goes to a log file in the cache.
 *
 * @param {string[]} args
 * @param {object} options
 * @param {string} options.subject what is installed; names the log file
 * @param {string} options.cwd the folder of the package.json to work on
 * @param {string} [options.node] the Node to run it with and to compile for
 * @throws {Failure} what went wrong, what to do, and where the log is
 */
export async function npm(args, { subject, cwd, node = process.execPath }) {
	const npmFile = findNpm();
	const log = logFile(subject);
	mkdirSync(dirname(log), { recursive: true });
	const output = openSync(log, 'w');
	try {
		const code = await runGroup(node, [npmFile, ...args, '--no-audit', '--no-fund'], {
			cwd,
			env: npmEnvironment(process.env, node),
			stdio: ['ignore', output, output],
		});
		if (code !== 0) throw new Failure(explainNpm(args, readFileSync(log, 'utf8'), log));
	} finally {
		closeSync(output);
	}
}

/**
 * The path of npm's script, with which npm runs under a chosen Node.js and without a shell.
 *
 * @returns {string}
 */
function findNpm() {
	const npmExecPath = process.env.npm_execpath;
	if (npmExecPath && basename(npmExecPath) === 'npm-cli.js' && existsSync(npmExecPath)) return npmExecPath;
	for (const folder of [...searchPath(), dirname(process.execPath)]) {
		const command = join(folder, 'npm');
		const target = existsSync(command) ? realpathSync(command) : '';
		if (basename(target) === 'npm-cli.js') return target;
		for (const place of ['node_modules', '../lib/node_modules']) {
			const file = join(folder, place, 'npm', 'bin', 'npm-cli.js');
			if (existsSync(file)) return file;
		}
	}
	throw new Failure(
		'npm was not found. It comes with Node: install Node from https://nodejs.org, or your ' +
			"system's npm package, and run the command again.",
	);
}

/**
 * @param {NodeJS.ProcessEnv} env
 * @param {string} node
 * @returns {NodeJS.ProcessEnv}
 */
function npmEnvironment(env, node) {
	const inherited = Object.entries(withNodeFirst(env, node)).filter(
		// The settings of the npm that started this process concern the clone, not this folder.
		([name]) => !/^npm_(package_|lifecycle_|config_local_prefix$)/.test(name),
	);
	return { ...Object.fromEntries(inherited), ...headersOf(node) };
}

/**
 * Native modules are compiled against Node's own headers if it includes them; otherwise node-gyp
 * downloads them.
 *
 * @param {string} node
 */
function headersOf(node) {
	const prefix = dirname(dirname(node));
	const hasHeaders = existsSync(join(prefix, 'include', 'node', 'node_version.h'));
	return hasHeaders ? { npm_config_nodedir: prefix } : {};
}
