/** The error of a promise that rejects; undefined if it resolves. */
export async function errorOf(promise: Promise<unknown>): Promise<Error | undefined> {
	return await promise.then(() => undefined, (error: Error) => error);
}
