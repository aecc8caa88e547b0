/** What a change has made of a value. */
interface Changed {
	before: unknown;
	after: unknown;
}

/**
 * Whether two fields that changed together are forms of one value, such as `email` and `emails`: the service then
 * changes one with the other. A value that is set for the first time may be in a list by its name; of two texts, one has
 * to have the other in it before and after, so that an import with a name and an address does not tie them.
 */
export const areForms = (a: Changed, b: Changed): boolean => isFormOf(a, b) || isFormOf(b, a);

function isFormOf(part: Changed, container: Changed): boolean {
	const isInList = [container.before, container.after].some(isStructured) && ![part.before, part.after].some(isStructured);
	const before = isHeld(part.before, container.before);
	if (before === false || (before === undefined && !isInList)) return false;
	const after = isHeld(part.after, container.after);
	return after === true || (after === undefined && isInList && before === true);
}

/** Whether the texts of a value are in another; undefined if it has none. */
function isHeld(part: unknown, container: unknown): boolean | undefined {
	// Two fields may be set to the same text by chance.
	if (typeof part === 'string' && typeof container === 'string') return part === '' ? undefined : part !== container && hasWords(container, part);
	const texts = textsIn(part);
	if (texts.length === 0) return undefined;
	// A number is in many texts by chance.
	if (typeof container === 'string') return typeof part !== 'number' && texts.every((text) => hasWords(container, text));
	const others = isStructured(container) ? textsIn(container) : [];
	return texts.every((text) => others.includes(text));
}

/** Numbers count as ids, and only inside of lists and objects. */
function textsIn(value: unknown): string[] {
	if (typeof value === 'string') return value === '' ? [] : [value];
	if (isStructured(value)) return Object.values(value).flatMap((member) => (typeof member === 'number' ? [String(member)] : textsIn(member)));
	return typeof value === 'number' ? [String(value)] : [];
}

const isStructured = (value: unknown): value is object => typeof value === 'object' && value !== null;

function hasWords(text: string, words: string): boolean {
	for (let at = text.indexOf(words); at >= 0; at = text.indexOf(words, at + 1)) {
		if (!isLetter.test(text[at - 1] ?? '') && !isLetter.test(text[at + words.length] ?? '')) return true;
	}
	return false;
}

const isLetter = /[\p{L}\p{N}]/u;

/** Of a field, those that have the same value in another form. */
export type Forms = Map<string, Set<string>>;

/** Adds which of the fields that one write has changed are forms of one value. */
export function addForms(forms: Forms | undefined, changed: Array<[string, Changed]>): Forms | undefined {
	let all = forms;
	const add = (field: string, form: string) => (all ??= new Map<string, Set<string>>()).set(field, (all.get(field) ?? new Set()).add(form));
	for (const [i, [name, values]] of changed.entries()) {
		for (const [other, others] of changed.slice(i + 1)) {
			if (all?.get(name)?.has(other) || !areForms(values, others)) continue;
			add(name, other);
			add(other, name);
		}
	}
	return all;
}

/** The fields, and those that the service changes with them: none of these is written alone. What it sets itself ties none. */
export function withForms(names: Iterable<string>, { forms }: { forms?: Forms }, can: { isWritten(name: string): boolean; changedWith(name: string): string[] }): Set<string> {
	const all = new Set(names);
	// Those that are added are looked at as well.
	for (const name of all) {
		if (!can.isWritten(name)) continue;
		for (const other of [...(forms?.get(name) ?? []), ...can.changedWith(name)]) if (can.isWritten(other)) all.add(other);
	}
	return all;
}
