import type { CustomFields } from '../api/customFields';
import { keyDigest } from '../base/digest';
import { listed } from '../base/lists';
import { getOrCreate } from '../base/maps';
import { allCustomFields, customFieldPrefix, customKeyOf, type Field } from '../fields/field';
import type { NodeRun } from '../model';
import { unaccentedText } from '../values/foldedText';

/** The meaning of a name: a field, or the name of an object whose members are fields. */
export type Meaning = Field | string;

export const meaningText = (meaning: Meaning): string => (typeof meaning === 'string' ? meaning : meaning.name);

/** The possible meanings of a name, or of the name of a member of an object, which match equally well. */
export type MeaningsOf = (name: string, isMember?: boolean) => Meaning[];

/**
 * Finds the meanings of names. A name is matched with the names of fields; failing that, with labels and the names of
 * custom fields without their prefix; failing that, with all of these regardless of case, spaces, punctuation and a
 * byte-order mark. Members of an object are matched by name only. A name that is longer than labels is that of the custom field
 * that an import created for it.
 *
 * @param recordFieldNames the names of all fields of records: names of read-only fields are never matched by label
 */
export function meaningsAmong(fields: Field[], recordFieldNames: ReadonlySet<string> = new Set()): MeaningsOf {
	const recordFieldWords = new Set([...recordFieldNames].map(wordsOf));
	// A field `a.b` differs from the member `b` of `a`: the shape of the item distinguishes them.
	const byDepth = [...fields].sort((a, b) => b.path.length - a.path.length);
	const named = (sorted: Field[]) => new Map(sorted.map((field) => [field.name, field]));
	const [flat, nested] = [named(byDepth), named(byDepth.reverse())];
	/** Names of objects whose members are fields. */
	const objects = new Set(fields.flatMap(({ name }) => objectsAround(name)));
	const byLabel = setsByKey(fields, labelsOf);
	const namesByWords = setsByKey(fields, ({ name }) => [wordsOf(name)]);
	const labelsByWords = setsByKey(fields, (field) => labelsOf(field).map(wordsOf));
	const objectsByWords = setsByKey([...objects], (object) => [wordsOf(object)]);

	const findMeanings = (name: string, isMember: boolean): Meaning[] => {
		const exactMatch = (isMember ? nested : flat).get(name) ?? (objects.has(name) ? name : undefined);
		if (exactMatch !== undefined) return [exactMatch];
		const createdName = customFieldPrefix + customKeyFor(name);
		const created = name.length > maxLabelLength ? fields.filter((field) => field.name.startsWith(createdName)) : [];
		if (created.length > 0) return created;
		const labeled = isMember || recordFieldNames.has(name) ? undefined : byLabel.get(name.trim());
		return labeled ? [...labeled] : findSimilar(wordsOf(name), isMember);
	};
	const findSimilar = (words: string, isMember: boolean): Meaning[] => {
		if (words === '') return [];
		const labeled = isMember || recordFieldWords.has(words) ? undefined : labelsByWords.get(words);
		return [...new Set([...(namesByWords.get(words) ?? []), ...(objectsByWords.get(words) ?? []), ...(labeled ?? [])])];
	};
	// Items usually have the same names, and with 100,000 items each comparison counts.
	const meanings = { ofNames: new Map<string, Meaning[]>(), ofMembers: new Map<string, Meaning[]>() };
	return (name, isMember = false) => getOrCreate(isMember ? meanings.ofMembers : meanings.ofNames, name, () => findMeanings(name, isMember));
}

/**
 * Finds the entry that a name refers to, by its name in the API or by its label.
 *
 * @throws Error in the user's words, with the available names
 */
export function matchByName<Entry extends { name: string; label: string }>(all: Entry[], requestedName: string, entryType: string): Entry {
	const exact = all.find(({ name }) => name === requestedName || name === customFieldPrefix + requestedName);
	if (exact) return exact;
	const words = wordsOf(requestedName);
	const aliasesOf = ({ name, label }: Entry) => [name, shortName(name), label, customKeyOf(name) ?? name];
	const matches = all.filter((entry) => aliasesOf(entry).some((alias) => wordsOf(alias) === words));
	const [only] = matches;
	if (only && matches.length === 1) return only;
	const listedNames = listed((matches.length > 0 ? matches : all).map(({ name }) => name), 60);
	if (matches.length > 0) throw new Error(`${requestedName} could be ${listedNames}. Use one of these.`);
	throw new Error(`There is no ${entryType} ${requestedName}. Use one of these: ${listedNames}.`);
}

/** Maximum characters of the label of a custom field. */
export const maxLabelLength = 100;

/** The key of a new custom field with a name. Long names often begin alike: a digest distinguishes those that no label takes whole. */
export function customKeyFor(name: string): string {
	const words = unaccentedText(name).replace(/[^a-z\d]+/g, '_').replace(/^[\d_]+|_+$/g, '');
	return name.length > maxLabelLength ? `${words.slice(0, 43) || 'field'}_${keyDigest(name).toString(36)}` : words.slice(0, 55) || 'field';
}

/** The letters and digits of a name, in lower case: `First Name`, `first_name` and `FirstName` agree. */
export function wordsOf(name: string): string {
	return name.normalize('NFKC').toLowerCase().replace(/[^\p{L}\p{N}]+/gu, '');
}

/** A link's name without the word for its value: `company` for `company_id`. */
const shortName = (name: string): string => name.replace(/_ids?$/, '');

/** The label of a field, the short name of a link and, for a custom field, its name without the prefix. */
const labelsOf = ({ label, name, path, target }: Field): string[] =>
	[label, ...(target === undefined ? [] : [shortName(name)]), ...(path[0] === allCustomFields ? [path.slice(1).join('.')] : [])].map((text) => text.trim());

/** `a.b.c` is part of `a` and of `a.b`. */
function objectsAround(name: string): string[] {
	const steps = name.split('.').slice(0, -1);
	return steps.map((_, i) => steps.slice(0, i + 1).join('.'));
}

function setsByKey<Element>(all: Element[], keysOf: (element: Element) => string[]): Map<string, Set<Element>> {
	const sets = new Map<string, Set<Element>>();
	for (const element of all) {
		for (const key of keysOf(element)) getOrCreate(sets, key, () => new Set<Element>()).add(element);
	}
	return sets;
}

/** The fields for which items can have values. */
export interface AcceptedFields {
	fields: Field[];
	/** The names of all fields of a record, including read-only fields. */
	recordFieldNames: ReadonlySet<string>;
	/** The words of their names and labels: files for people have labels. */
	recordFieldWords: ReadonlySet<string>;
}

export async function withCustomFields(
	{ api, resource }: NodeRun,
	fields: Field[],
	custom: CustomFields | undefined,
): Promise<AcceptedFields> {
	const described = (await api.describe(resource.path))?.fields ?? [];
	return {
		fields: [...fields, ...(custom?.fields ?? [])],
		recordFieldNames: new Set([...described, ...(custom?.unwritable ?? [])].map(({ name }) => name)),
		recordFieldWords: new Set(described.flatMap(({ name, label }) => [wordsOf(name), wordsOf(label)])),
	};
}
