import type { Field } from '../fields/field';

/** What a name means: a field, or the name of an object whose members are fields. */
export type Meaning = Field | string;

export const meaningText = (meaning: Meaning): string => (typeof meaning === 'string' ? meaning : meaning.name);

/** The possible meanings of a name, all equally good. Members of an object are matched by name only. */
type Meanings = (name: string, isMember?: boolean) => Meaning[];

/**
 * Prepares what names mean. A name is matched as the service writes it; failing that, as a label is written,
 * or a custom field without its prefix; failing that, by either regardless of case, spaces, punctuation and a
 * byte-order mark.
 *
 * @param recordNames names that records come with: those without a field are never matched by label
 */
export function fieldNames(fields: Field[], recordNames: ReadonlySet<string> = new Set()): Meanings {
	// A field `a.b` differs from the member `b` of `a`: the shape of the item distinguishes them.
	const byDepth = [...fields].sort((a, b) => b.path.length - a.path.length);
	const exact = (some: Field[]) => new Map(some.map((field) => [field.name, field]));
	const [flat, nested] = [exact(byDepth), exact(byDepth.reverse())];
	const groups = new Set(fields.flatMap(({ name }) => groupsOf(name)));
	const byLabel = grouped(fields, labelsOf);
	const namesByWords = grouped(fields, ({ name }) => [wordsOf(name)]);
	const labelsByWords = grouped(fields, (field) => labelsOf(field).map(wordsOf));
	const groupsByWords = grouped([...groups], (group) => [wordsOf(group)]);
	const recordWords = new Set([...recordNames].map(wordsOf));

	const similar = (name: string, isMember: boolean): Meaning[] => {
		const words = wordsOf(name);
		if (words === '') return [];
		const labeled = isMember || recordWords.has(words) ? undefined : labelsByWords.get(words);
		const all = [namesByWords, groupsByWords].flatMap((index): Meaning[] => [...(index.get(words) ?? [])]);
		return [...new Set([...all, ...(labeled ?? [])])];
	};
	const meaningsOf = (name: string, isMember: boolean): Meaning[] => {
		const exactMatch = (isMember ? nested : flat).get(name) ?? (groups.has(name) ? name : undefined);
		if (exactMatch !== undefined) return [exactMatch];
		const labeled = isMember || recordNames.has(name) ? undefined : byLabel.get(name.trim());
		return labeled ? [...labeled] : similar(name, isMember);
	};
	// Items usually have the same names, and with 100,000 items each comparison counts.
	const [ofNames, ofMembers] = [oncePerName((name) => meaningsOf(name, false)), oncePerName((name) => meaningsOf(name, true))];
	return (name, isMember = false) => (isMember ? ofMembers : ofNames)(name);
}

/** The letters and digits of a name, in lower case: `First Name`, `first_name` and `FirstName` agree. */
export function wordsOf(name: string): string {
	return name.normalize('NFKC').toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}

/** Other names of a field. */
const labelsOf = ({ label, path }: Field): string[] =>
	(path[0] === 'custom_fields' ? [label, path.slice(1).join('.')] : [label]).map((name) => name.trim());

/** `a.b.c` is part of `a` and of `a.b`. */
function groupsOf(name: string): string[] {
	const steps = name.split('.').slice(0, -1);
	return steps.map((_, i) => steps.slice(0, i + 1).join('.'));
}

/** The same function, which finds what a name means once. */
function oncePerName<Found>(find: (name: string) => Found): (name: string) => Found {
	const cache = new Map<string, Found>();
	return (name) => {
		if (!cache.has(name)) cache.set(name, find(name));
		return cache.get(name) as Found;
	};
}

function grouped<One>(all: One[], keysOf: (element: One) => string[]): Map<string, Set<One>> {
	const groups = new Map<string, Set<One>>();
	for (const element of all) {
		for (const key of keysOf(element)) groups.set(key, (groups.get(key) ?? new Set()).add(element));
	}
	return groups;
}
