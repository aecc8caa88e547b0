/** What of a list has the filter in its name; all of it where there is none. */
export function matchingName<Item extends { name: string }>(items: Item[], filter = ''): Item[] {
	const wanted = filter.toLowerCase();
	return items.filter(({ name }) => name.toLowerCase().includes(wanted));
}
