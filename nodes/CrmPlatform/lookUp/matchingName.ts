/** The items whose names contain the filter, ignoring case; all items without a filter. */
export function matchingName<Item extends { name: string }>(items: Item[], filter = ''): Item[] {
	const searchText = filter.toLowerCase();
	return items.filter(({ name }) => name.toLowerCase().includes(searchText));
}
