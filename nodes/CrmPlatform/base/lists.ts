import { sleep } from 'n8n-workflow';

import { resultOrError } from './results';

/** Divides a list, in order, into lists of at most `size` elements. */
export function chunks<T>(all: T[], size: number): T[][] {
	return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}

/** The first values, for a message; an ellipsis stands for the others. */
export const listed = (values: ReadonlyArray<string | number>, max = 10): string =>
	values.slice(0, max).join(', ') + (values.length > max ? ', …' : '');

/** The first of the entries with the largest number. */
export const maxBy = <Entry>(all: Entry[], numberOf: (entry: Entry) => number): Entry | undefined =>
	all.reduce<Entry | undefined>((best, entry) => (best !== undefined && numberOf(best) >= numberOf(entry) ? best : entry), undefined);

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
