import { delimiter, dirname } from 'node:path';

/**
 * An environment in which `node` is a certain Node, also for whatever its programs start.
 *
 * @param {NodeJS.ProcessEnv} env
 * @param {string} node its binary.
 * @returns {NodeJS.ProcessEnv}
 */
export function withNodeFirst(env, node) {
	const rest = searchPath(env).filter((folder) => folder !== dirname(node));
	return { ...env, [pathVariable(env)]: [dirname(node), ...rest].join(delimiter) };
}

/** The folders in which programs are looked for, first to last. */
export function searchPath(env = process.env) {
	return (env[pathVariable(env)] ?? '').split(delimiter).filter(Boolean);
}

/**
 * The spelling of PATH: on Windows usually Path, and a copy of the environment minds case.
 *
 * @param {NodeJS.ProcessEnv} env
 */
function pathVariable(env) {
	return Object.keys(env).find((name) => name.toUpperCase() === 'PATH') ?? 'PATH';
}
