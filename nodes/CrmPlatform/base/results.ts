import { sleep } from 'n8n-workflow';

/*
 * An item that fails must not end the others: its error stands in place of its result until its turn comes. `resultOrError`
 * and `resultsOrErrors` keep it, `orThrow` throws it.
 */

export function resultOrError<Result>(read: () => Result): Result | Error {
	try {
		return read();
	} catch (error) {
		return error as Error;
	}
}

/** What a function returns for each of `count` items, or the error that the item fails with when its turn comes. */
export async function resultsOrErrors<Result>(count: number, read: (item: number) => Result): Promise<Array<Result | Error>> {
	const all: Array<Result | Error> = [];
	for (let item = 0; item < count; item += 1) {
		// Expressions of many items would block n8n.
		if (item % 1_000 === 999) await sleep(0);
		all.push(resultOrError(() => read(item)));
	}
	return all;
}

/** @throws the error that was kept in place of a result */
export function orThrow<Result>(result: Result | Error): Result {
	if (result instanceof Error) throw result;
	return result;
}
