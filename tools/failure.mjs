/**
 * Something went wrong that the user can act on. The message says what happened and what to do;
 * it is shown as it is, without a stack.
 */
export class Failure extends Error {
	/** @override */
	name = 'Failure';
}

/**
 * Shows an error on stderr and makes the process end with code 1 once nothing is left to do.
 *
 * @param {unknown} error a Failure is shown as its message, anything else with its stack
 */
export function reportFailure(error) {
	console.error(error instanceof Failure ? `\n${error.message}\n` : error);
	process.exitCode = 1;
}
