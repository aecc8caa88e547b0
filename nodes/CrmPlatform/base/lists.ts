export function chunks<T>(all: T[], size: number): T[][] {
	return Array.from({ length: Math.ceil(all.length / size) }, (_, i) => all.slice(i * size, (i + 1) * size));
}

/** The first values, for a message; an ellipsis stands for the others. */
export const listed = (values: ReadonlyArray<string | number>, max = 10): string =>
	values.slice(0, max).join(', ') + (values.length > max ? ', …' : '');

/** The first of the entries with the largest number. */
export const maxBy = <Entry>(all: Entry[], numberOf: (entry: Entry) => number): Entry | undefined =>
	all.reduce<Entry | undefined>((best, entry) => (best !== undefined && numberOf(best) >= numberOf(entry) ? best : entry), undefined);
