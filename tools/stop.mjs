import { constants } from 'node:os';

/** The signals by which a terminal, a supervisor or a user ends a program. */
export const stopSignals = /** @type {const} */ (['SIGINT', 'SIGTERM', 'SIGHUP']);

/** One Ctrl-C can reach this process twice: from the terminal, and from the npm that started it. */
const sameKeystrokeMs = 1_000;

/** @type {Array<() => void | Promise<void>>} */
const actions = [];
let stoppingSince = 0;

/**
 * Registers an action to run before a stop signal ends this process. Actions run one after another, the last
 * registered first. A second Ctrl-C ends the process without waiting.
 *
 * @param {() => void | Promise<void>} action
 * @returns {() => void} removes it
 */
export function onStopSignal(action) {
	if (actions.length === 0) for (const signal of stopSignals) process.on(signal, stop);
	actions.push(action);
	return () => {
		actions.splice(actions.indexOf(action), 1);
		if (actions.length === 0) for (const signal of stopSignals) process.off(signal, stop);
	};
}

/** Whether this process is ending, so that failures are expected. */
export function isStopping() {
	return stoppingSince > 0;
}

/**
 * Ends this process as a stop signal does, after all registered work.
 *
 * @param {number} code the exit code, unless process.exitCode says otherwise
 */
export async function stopProcess(code) {
	stoppingSince = Date.now();
	for (const action of [...actions].reverse()) {
		try {
			await action();
		} catch (error) {
			console.error(error);
		}
	}
	process.exit(process.exitCode ?? code);
}

/** @param {NodeJS.Signals} signal */
function stop(signal) {
	const code = 128 + constants.signals[signal];
	if (!isStopping()) return stopProcess(code);
	if (Date.now() - stoppingSince > sameKeystrokeMs) process.exit(code);
}
