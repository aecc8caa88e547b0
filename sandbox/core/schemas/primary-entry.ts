/** One of several addresses or numbers of a person. */
export interface Entry {
	value: string;
	label: string | null;
	primary: boolean;
}

/**
 * Keeps a single value (`email`) consistent with its list (`emails`). If a write changes one of them, the other
 * follows: a new single value replaces the former one in the list. If a write changes both, the single value says
 * which entry is primary, and the list keeps all of its entries.
 *
 * @returns the single value and the list, in which exactly that value is primary
 */
export function withPrimary(
	single: string | null,
	list: Entry[],
	previousSingle: string | null = null,
	previousList: Entry[] = [],
): { primary: string | null; all: Entry[] } {
	const listChanged = JSON.stringify(list) !== JSON.stringify(previousList);
	const singleChanged = single !== previousSingle;
	if (listChanged && !singleChanged) {
		const primary = (list.find((entry) => entry.primary) ?? list[0])?.value ?? null;
		return { primary, all: mark(list, primary) };
	}
	const entries = singleChanged && !listChanged ? list.filter((entry) => entry.value !== previousSingle) : list;
	if (single === null) return { primary: null, all: mark(entries, null) };
	const isPresent = entries.some((entry) => entry.value === single);
	const all = isPresent ? entries : [{ value: single, label: null, primary: true }, ...entries];
	return { primary: single, all: mark(all, single) };
}

/** Marks the primary entry and removes duplicates. */
const mark = (list: Entry[], primary: string | null): Entry[] =>
	list.filter(({ value }, i) => list.findIndex((other) => other.value === value) === i)
		.map((entry) => ({ ...entry, primary: entry.value === primary }));
