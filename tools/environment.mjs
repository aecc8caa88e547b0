import { posix, win32 } from 'node:path';

/**
 * An environment in which `node` is a given Node, also for child processes.
 *
 * @param {NodeJS.ProcessEnv} env
 * @param {string} node its binary
 * @param {NodeJS.Platform} [platform]
 * @returns {NodeJS.ProcessEnv}
 */
export function withNodeFirst(env, node, platform = process.platform) {
	const { delimiter, dirname } = pathsOf(platform);
	const rest = searchPath(env, platform).filter((folder) => folder !== dirname(node));
	return { ...env, [pathVariable(env)]: [dirname(node), ...rest].join(delimiter) };
}

/**
 * The folders of the search path, in order.
 *
 * @param {NodeJS.ProcessEnv} [env]
 * @param {NodeJS.Platform} [platform]
 */
export function searchPath(env = process.env, platform = process.platform) {
	return (env[pathVariable(env)] ?? '').split(pathsOf(platform).delimiter).filter(Boolean);
}

/**
 * The module `node:path` as it is on a platform.
 *
 * @param {NodeJS.Platform} platform
 */
export function pathsOf(platform) {
	return platform === 'win32' ? win32 : posix;
}

/**
 * The spelling of PATH: on Windows usually Path, and a copy of the environment is case-sensitive.
 *
 * @param {NodeJS.ProcessEnv} env
 */
function pathVariable(env) {
	return Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
}
