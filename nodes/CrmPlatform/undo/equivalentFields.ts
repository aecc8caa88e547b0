import { scalarsIn } from '../base/json';
import { getOrCreate } from '../base/maps';
import type { ValueChange } from './fieldHistory';
import type { WritableFields } from './writableFields';

/**
 * Whether two fields that changed together hold one value in two forms, such as `email` and `emails`: the service
 * then changes one with the other. A value that is set for the first time may be found in a list. Of two texts, one must
 * contain the other before and after the change, so that an import of a name and an address does not tie the two.
 */
export const areEquivalent = (first: ValueChange, second: ValueChange): boolean => isPartOf(first, second) || isPartOf(second, first);

function isPartOf(part: ValueChange, container: ValueChange): boolean {
	const isInList = [container.before, container.after].some(isStructured) && ![part.before, part.after].some(isStructured);
	const before = isContained(part.before, container.before);
	if (before === false || (before === undefined && !isInList)) return false;
	const after = isContained(part.after, container.after);
	return after === true || (after === undefined && isInList && before === true);
}

/** Whether another value contains all texts of a value; undefined if the value has no text. */
function isContained(part: unknown, container: unknown): boolean | undefined {
	// Two fields may be set to the same text by chance.
	if (typeof part === 'string' && typeof container === 'string') {
		return part === '' ? undefined : part !== container && hasWords(container, part);
	}
	const texts = textsIn(part);
	if (texts.length === 0) return undefined;
	// Many texts contain a number by chance.
	if (typeof container === 'string') return typeof part !== 'number' && texts.every((text) => hasWords(container, text));
	const others = isStructured(container) ? textsIn(container) : [];
	return texts.every((text) => others.includes(text));
}

/** The texts in a value, and its numbers, which may be ids. */
const textsIn = (value: unknown): string[] =>
	scalarsIn(value).filter((scalar) => typeof scalar === 'number' || (typeof scalar === 'string' && scalar !== '')).map(String);

const isStructured = (value: unknown): boolean => typeof value === 'object' && value !== null;

/** Whether a text contains these words as whole words. */
function hasWords(text: string, words: string): boolean {
	for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + 1)) {
		if (!letterOrDigit.test(text[at - 1] ?? '') && !letterOrDigit.test(text[at + words.length] ?? '')) return true;
	}
	return false;
}

const letterOrDigit = /[\p{L}\p{N}]/u;

/** For each field, the fields that hold the same value in another form. */
export type EquivalentFields = Map<string, Set<string>>;

interface WithEquivalentFields {
	/** Absent if there are none, which saves memory: a log may contain a hundred thousand records. */
	equivalentFields?: EquivalentFields;
}

/** Adds the fields that are equivalent according to one write, which changed all of them. */
export function addEquivalentFields(history: WithEquivalentFields, changedFields: Array<[name: string, change: ValueChange]>): void {
	const add = (name: string, other: string) => {
		const equivalentFields = (history.equivalentFields ??= new Map<string, Set<string>>());
		getOrCreate(equivalentFields, name, () => new Set<string>()).add(other);
	};
	for (const [i, [name, change]] of changedFields.entries()) {
		for (const [other, otherChange] of changedFields.slice(i + 1)) {
			if (history.equivalentFields?.get(name)?.has(other) || !areEquivalent(change, otherChange)) continue;
			add(name, other);
			add(other, name);
		}
	}
}

/**
 * These fields, and all that the service changes with them: none of them may be written alone. Fields that only the
 * service sets tie no others.
 */
export function withTiedFields(
	names: Iterable<string>,
	{ equivalentFields }: WithEquivalentFields,
	writable: Pick<WritableFields, 'canWrite' | 'dependentFields'>,
): Set<string> {
	const tiedFields = new Set(names);
	// The loop also visits the fields that it adds.
	for (const name of tiedFields) {
		if (!writable.canWrite(name)) continue;
		for (const other of [...(equivalentFields?.get(name) ?? []), ...writable.dependentFields(name)]) {
			if (writable.canWrite(other)) tiedFields.add(other);
		}
	}
	return tiedFields;
}
