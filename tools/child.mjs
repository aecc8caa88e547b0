import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { constants } from 'node:os';
import { setTimeout as sleep } from 'node:timers/promises';
import { onStopSignal, stopSignals } from './stop.mjs';

const parentPollMs = 500;

/** @typedef {import('node:child_process').ChildProcess} ChildProcess */
/** @typedef {import('node:child_process').SpawnOptions} SpawnOptions */

/**
 * Starts a program in its own process group, so that a Ctrl-C in the terminal reaches only this process,
 * which decides when the program and its children end (stopGroup). The program never outlives this process.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {SpawnOptions} options
 */
export function startGroup(command, args, options) {
	const child = spawn(command, args, {
		...options,
		detached: process.platform !== 'win32',
		windowsHide: true,
	});
	const kill = () => signalGroup(child, 'SIGKILL');
	process.once('exit', kill);
	child.once('exit', () => process.off('exit', kill));
	return child;
}

/**
 * Ends a program started by startGroup, and its children. Returns when it has ended.
 *
 * @param {ChildProcess} child
 * @param {number} graceMs how long the program may take to end before it is killed
 */
export async function stopGroup(child, graceMs) {
	if (!hasEnded(child)) {
		const ended = once(child, 'exit');
		signalGroup(child, 'SIGTERM');
		await Promise.race([ended, sleep(graceMs, undefined, { ref: false })]);
		signalGroup(child, 'SIGKILL');
		await ended;
	}
	// Its children may still run after a clean end.
	signalGroup(child, 'SIGKILL');
}

/** @param {ChildProcess} child */
export function hasEnded(child) {
	return child.pid === undefined || child.exitCode !== null || child.signalCode !== null;
}

/**
 * @param {ChildProcess} child the first process of the group
 * @param {NodeJS.Signals} signal
 */
function signalGroup(child, signal) {
	if (child.pid === undefined) return;
	if (process.platform === 'win32') {
		// Windows has neither groups nor signals; this ends the whole tree at once.
		spawnSync('taskkill', ['/pid', String(child.pid), '/t', '/f']);
		return;
	}
	try {
		process.kill(-child.pid, signal);
	} catch {
		// ESRCH: nothing of the group is left.
	}
}

/**
 * Runs a program in its own process group until it ends. A stop signal to this process ends it, too.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {SpawnOptions} options
 * @returns {Promise<number>} its exit code; 1 if a signal ended it
 */
export async function runGroup(command, args, options) {
	const child = startGroup(command, args, options);
	const forget = onStopSignal(() => stopGroup(child, 2_000));
	try {
		const [code] = await once(child, 'exit');
		return code ?? 1;
	} finally {
		forget();
	}
}

/**
 * Runs a program in place of this process: in the same terminal, and a stop signal to this process ends it, too.
 *
 * @param {string} command
 * @param {string[]} args
 * @param {SpawnOptions} options
 * @returns {Promise<number>} its exit code, or 128 + the number of the signal that ended it, as
 * in shells
 */
export async function runInPlace(command, args, options) {
	const child = spawn(command, args, { ...options, stdio: 'inherit' });
	/** @param {NodeJS.Signals} signal */
	const forward = (signal) => {
		if (mustForward(signal, process.platform)) child.kill(signal);
	};
	for (const signal of stopSignals) process.on(signal, forward);
	const watch = watchParent(() => forward('SIGTERM'));
	try {
		const [code, signal] = await once(child, 'exit');
		return code ?? 128 + constants.signals[/** @type {NodeJS.Signals} */ (signal)];
	} finally {
		clearInterval(watch);
		for (const signal of stopSignals) process.off(signal, forward);
	}
}

/**
 * Whether a stop signal has to be forwarded to a program in the same console. Windows notifies
 * every program of a console of Ctrl-C and of its closing, and its `kill` ends a program at once,
 * whatever the signal, before it can clean up.
 *
 * @param {NodeJS.Signals} signal
 * @param {NodeJS.Platform} platform
 */
export function mustForward(signal, platform) {
	return platform !== 'win32' || signal === 'SIGTERM';
}

/**
 * A SIGTERM to npm ends npm and its shell, but does not reach this process. It is noticed because this process
 * gets another parent.
 *
 * @param {() => void} onGone
 */
function watchParent(onGone) {
	const parent = process.ppid;
	const watch = setInterval(() => {
		if (process.ppid === parent) return;
		clearInterval(watch);
		onGone();
	}, parentPollMs);
	return watch;
}
