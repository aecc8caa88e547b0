import { existsSync } from 'node:fs';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { homedir } from 'node:os';
import { basename, dirname, join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { pathsOf } from './environment.mjs';
import { Failure } from './failure.mjs';
import { withLock } from './lock.mjs';

const renameAttempts = 60;
const renamePauseMs = 500;

/**
 * The folder of what this project installs once per machine, outside the clone: in the system's folder
 * for caches (on Linux, the XDG Base Directory Specification).
 *
 * @param {NodeJS.Platform} [platform]
 * @param {NodeJS.ProcessEnv} [env]
 * @param {string} [home]
 */
export function cacheFolder(platform = process.platform, env = process.env, home = homedir()) {
	return pathsOf(platform).join(userCache(platform, env, home), 'n8n-nodes-crm-platform');
}

/**
 * @param {NodeJS.Platform} platform
 * @param {NodeJS.ProcessEnv} env
 * @param {string} home
 */
function userCache(platform, env, home) {
	const paths = pathsOf(platform);
	if (env.XDG_CACHE_HOME) return env.XDG_CACHE_HOME;
	if (platform === 'win32') return env.LOCALAPPDATA || paths.join(home, 'AppData', 'Local');
	if (platform === 'darwin') return paths.join(home, 'Library', 'Caches');
	return paths.join(home, '.cache');
}

/**
 * The log file of an installation.
 *
 * @param {string} subject what is installed, as a file name
 */
export function logFile(subject) {
	return join(cacheFolder(), 'logs', `${subject}.log`);
}

/**
 * Fills a folder exactly once. `install` works in a temporary folder beside it, which is renamed
 * when it is complete, so that an interrupted installation never looks complete. If
 * several processes install at once, one of them does so and the others wait for it.
 *
 * @param {string} folder the folder that will exist afterwards
 * @param {(temporary: string) => Promise<void>} install fills the temporary folder, or throws
 * @param {(holder: number) => void} [onWait] called once if another process is already installing
 */
export async function installOnce(folder, install, onWait) {
	if (existsSync(folder)) return;
	await createFolder(dirname(folder));
	await withLock(
		`${folder}.lock`,
		async () => {
			if (existsSync(folder)) return;
			await removeLeftovers(folder);
			const temporary = `${folder}.installing-${process.pid}`;
			await mkdir(temporary);
			await install(temporary);
			await renameUnlessThere(temporary, folder);
		},
		onWait,
	);
}

/** @param {string} folder */
async function createFolder(folder) {
	try {
		await mkdir(folder, { recursive: true });
	} catch (error) {
		throw new Failure(
			`The folder ${folder} cannot be created (${describe(error)}). ` +
				'Make it writable, or set XDG_CACHE_HOME to a folder that is.',
		);
	}
}

/** @param {string} folder */
async function removeLeftovers(folder) {
	const prefix = `${basename(folder)}.installing-`;
	for (const name of await readdir(dirname(folder))) {
		if (!name.startsWith(prefix)) continue;
		await rm(join(dirname(folder), name), { recursive: true, force: true });
	}
}

/**
 * @param {string} from
 * @param {string} to
 */
async function renameUnlessThere(from, to) {
	try {
		await renamePatiently(from, to);
	} catch (error) {
		// A lock may seem abandoned while its holder's machine sleeps: the first rename wins.
		if (!existsSync(to)) throw error;
		await rm(from, { recursive: true, force: true });
	}
}

/**
 * On Windows, a folder cannot be renamed while a virus scanner has one of its files open.
 *
 * @param {string} from
 * @param {string} to
 */
async function renamePatiently(from, to) {
	for (let attempt = 1; ; attempt += 1) {
		try {
			return await rename(from, to);
		} catch (error) {
			const code = error instanceof Error && 'code' in error ? String(error.code) : '';
			const mayPass = process.platform === 'win32' && ['EPERM', 'EACCES', 'EBUSY'].includes(code);
			if (!mayPass || attempt === renameAttempts) throw error;
			await sleep(renamePauseMs);
		}
	}
}

/** @param {unknown} error */
function describe(error) {
	return error instanceof Error ? error.message : String(error);
}
