import { mkdirSync, readFileSync, rmSync, statSync, utimesSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';

const heartbeatMs = 5_000;
/** Age of an abandoned lock: after six missed heartbeats, the process number may belong to another program. */
const abandonedMs = 30_000;
const pollMs = 500;

/**
 * Takes a lock that lasts until it is released or this process ends, however it ends.
 *
 * @param {string} file the lock file; holds the number of the process that has the lock
 * @returns {{ release: () => void } | { holder: number }} the lock, or the process that has it
 */
export function takeLock(file) {
	mkdirSync(dirname(file), { recursive: true });
	try {
		writeFileSync(file, String(process.pid), { flag: 'wx' });
	} catch (error) {
		if (!isCode(error, 'EEXIST')) throw error;
		const holder = holderOf(file);
		if (holder !== undefined) return { holder };
		rmSync(file, { force: true });
		return takeLock(file);
	}
	const heartbeat = setInterval(() => touch(file), heartbeatMs);
	heartbeat.unref();
	return {
		release() {
			clearInterval(heartbeat);
			rmSync(file, { force: true });
		},
	};
}

/**
 * Runs `work` under a lock, after waiting for the lock without a time limit.
 *
 * @template T
 * @param {string} file
 * @param {() => Promise<T>} work
 * @param {(holder: number) => void} [onWait] called once, with the holder's process number
 * @returns {Promise<T>}
 */
export async function withLock(file, work, onWait) {
	let lock = takeLock(file);
	if ('holder' in lock) onWait?.(lock.holder);
	while ('holder' in lock) {
		await sleep(pollMs);
		lock = takeLock(file);
	}
	try {
		return await work();
	} finally {
		lock.release();
	}
}

/**
 * @param {string} file
 * @returns {number | undefined} the living process that holds the lock
 */
function holderOf(file) {
	try {
		const holder = Number(readFileSync(file, 'utf8'));
		const age = Date.now() - statSync(file).mtimeMs;
		if (age > abandonedMs) return undefined;
		// The file is empty: a process has just created it and has not written its number yet.
		if (holder === 0) return holder;
		return isAlive(holder) ? holder : undefined;
	} catch (error) {
		if (isCode(error, 'ENOENT')) return undefined;
		throw error;
	}
}

/** @param {number} pid */
function isAlive(pid) {
	try {
		process.kill(pid, 0);
		return true;
	} catch (error) {
		// EPERM: it is alive, but belongs to someone else.
		return isCode(error, 'EPERM');
	}
}

/** @param {string} file */
function touch(file) {
	try {
		const now = new Date();
		utimesSync(file, now, now);
	} catch (error) {
		// The folder was removed (a wiped cache), so there is no lock left to refresh.
		if (!isCode(error, 'ENOENT')) throw error;
	}
}

/**
 * @param {unknown} error
 * @param {string} code
 */
function isCode(error, code) {
	return typeof error === 'object' && error !== null && 'code' in error && error.code === code;
}
