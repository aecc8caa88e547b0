import { getOrCreate } from '../base/maps';
import { allCustomFields, type Field } from '../fields/field';

/** The meaning of a name: a field, or the name of an object whose members are fields. */
export type Meaning = Field | string;

export const meaningText = (meaning: Meaning): string => (typeof meaning === 'string' ? meaning : meaning.name);

/**
 * Finds the meanings of names. A name is matched with the names of fields; failing that, with labels and the names of
 * custom fields without their prefix; failing that, with all of these regardless of case, spaces, punctuation and a
 * byte-order mark. Members of an object are matched by name only.
 */
export class FieldNames {
	private readonly recordFieldNames: ReadonlySet<string>;
	private readonly recordFieldWords: ReadonlySet<string>;
	/** Names of objects whose members are fields. */
	private readonly groups: ReadonlySet<string>;
	/** A field `a.b` differs from the member `b` of `a`: the shape of the item distinguishes them. */
	private readonly flat: Map<string, Field>;
	private readonly nested: Map<string, Field>;
	private readonly byLabel: Map<string, Set<Field>>;
	private readonly namesByWords: Map<string, Set<Field>>;
	private readonly labelsByWords: Map<string, Set<Field>>;
	private readonly groupsByWords: Map<string, Set<string>>;
	/** Items usually have the same names, and with 100,000 items each comparison counts. */
	private readonly meanings = { ofNames: new Map<string, Meaning[]>(), ofMembers: new Map<string, Meaning[]>() };

	/** @param recordFieldNames the names of all fields of records: names of read-only fields are never matched by label */
	constructor(fields: Field[], recordFieldNames: ReadonlySet<string> = new Set()) {
		const byDepth = [...fields].sort((a, b) => b.path.length - a.path.length);
		const named = (sorted: Field[]) => new Map(sorted.map((field) => [field.name, field]));
		this.recordFieldNames = recordFieldNames;
		this.recordFieldWords = new Set([...recordFieldNames].map(wordsOf));
		this.groups = new Set(fields.flatMap(({ name }) => groupsOf(name)));
		this.flat = named(byDepth);
		this.nested = named(byDepth.reverse());
		this.byLabel = grouped(fields, labelsOf);
		this.namesByWords = grouped(fields, ({ name }) => [wordsOf(name)]);
		this.labelsByWords = grouped(fields, (field) => labelsOf(field).map(wordsOf));
		this.groupsByWords = grouped([...this.groups], (group) => [wordsOf(group)]);
	}

	/** The possible meanings of a name, which match equally well. */
	meaningsOf(name: string, isMember = false): Meaning[] {
		const cache = isMember ? this.meanings.ofMembers : this.meanings.ofNames;
		return getOrCreate(cache, name, () => this.findMeanings(name, isMember));
	}

	private findMeanings(name: string, isMember: boolean): Meaning[] {
		const exactMatch = (isMember ? this.nested : this.flat).get(name) ?? (this.groups.has(name) ? name : undefined);
		if (exactMatch !== undefined) return [exactMatch];
		const labeled = isMember || this.recordFieldNames.has(name) ? undefined : this.byLabel.get(name.trim());
		return labeled ? [...labeled] : this.findSimilar(wordsOf(name), isMember);
	}

	private findSimilar(words: string, isMember: boolean): Meaning[] {
		if (words === '') return [];
		const labeled = isMember || this.recordFieldWords.has(words) ? undefined : this.labelsByWords.get(words);
		return [...new Set([...(this.namesByWords.get(words) ?? []), ...(this.groupsByWords.get(words) ?? []), ...(labeled ?? [])])];
	}
}

/** The letters and digits of a name, in lower case: `First Name`, `first_name` and `FirstName` agree. */
export function wordsOf(name: string): string {
	return name.normalize('NFKC').toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}

/** A link's name without the word for its value: `company` for `company_id`. */
export const shortName = (name: string): string => name.replace(/_ids?$/, '');

/** The label of a field, the short name of a link and, for a custom field, its name without the prefix. */
const labelsOf = ({ label, name, path, collection }: Field): string[] =>
	[label, ...(collection === undefined ? [] : [shortName(name)]), ...(path[0] === allCustomFields ? [path.slice(1).join('.')] : [])].map((text) => text.trim());

/** `a.b.c` is part of `a` and of `a.b`. */
function groupsOf(name: string): string[] {
	const steps = name.split('.').slice(0, -1);
	return steps.map((_, i) => steps.slice(0, i + 1).join('.'));
}

function grouped<Element>(all: Element[], keysOf: (element: Element) => string[]): Map<string, Set<Element>> {
	const groups = new Map<string, Set<Element>>();
	for (const element of all) {
		for (const key of keysOf(element)) getOrCreate(groups, key, () => new Set<Element>()).add(element);
	}
	return groups;
}
