/*
 * An item that fails must not end the others: its error stands in place of its result until its turn comes. `resultOrError`
 * and `resultsOrErrors` keep it, `orThrow` throws it.
 */

/** What a function returns, or the error that it throws. */
export function resultOrError<Result>(read: () => Result): Result | Error {
	try {
		return read();
	} catch (error) {
		return error as Error;
	}
}

/** @throws the error that was kept in place of a result */
export function orThrow<Result>(result: Result | Error): Result {
	if (result instanceof Error) throw result;
	return result;
}
