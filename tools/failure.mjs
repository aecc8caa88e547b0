/**
 * An error that the user can correct. The message says what happened and what to do; it is shown without
 * a stack.
 */
export class Failure extends Error {
	/** @override */
	name = 'Failure';
}

/**
 * Shows an error on stderr and sets the exit code of the process to 1.
 *
 * @param {unknown} error a Failure is shown as its message, anything else with its stack
 */
export function reportFailure(error) {
	console.error(error instanceof Failure ? `\n${error.message}\n` : error);
	process.exitCode = 1;
}
