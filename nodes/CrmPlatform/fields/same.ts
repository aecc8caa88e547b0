import { isObject } from '../base/json';
import { ownMember } from '../base/ownMembers';
import { isBlank, hasOnlyBlanks } from '../values/blank';
import { rfc3339 } from '../values/dates';
import { isPlainText, valueShape } from './fieldKinds';
import { canonicalForm, type ComparedField } from './keys';

/**
 * Whether two values of a field are the same for the service. All blanks are the same, and so are two notations of a
 * number, an instant or a web address, texts in another case where the service stores lower case, and an id as a number or
 * as text. The order of a list of plain values does not count; that of a list of objects, or within JSON,
 * does.
 *
 * @param field undefined if it is not described
 */
export const sameValue = (field: ComparedField | undefined, a: unknown, b: unknown): boolean =>
	a === b || (coversValue(field, a, b) && coversValue(field, b, a));

/**
 * Whether a value has all that another one has, as in a merge patch (RFC 7396): members that only it has do not
 * count, also within the objects of a list.
 *
 * @param field undefined if it is not described
 * @param within the place of the values in their field: empty for the field's own value, `*.value` in a list of objects
 */
export function coversValue(field: ComparedField | undefined, value: unknown, required: unknown, within = ''): boolean {
	if (isBlank(required)) return hasOnlyBlanks(value);
	if (Array.isArray(required)) {
		if (!Array.isArray(value)) return false;
		const place = within === '' ? '*' : `${within}.*`;
		if (within === '' && isUnordered(field) && ![value, required].flat().some((element) => typeof element === 'object')) {
			const setOf = (list: unknown[]) => new Set(list.map((element) => comparableForm(field, element, place)));
			const [has, needs] = [setOf(value), setOf(required)];
			return has.size === needs.size && [...needs].every((element) => has.has(element));
		}
		return value.length === required.length && required.every((element, i) => coversValue(field, value[i], element, place));
	}
	if (isObject(required)) {
		const inner = (name: string) => (within === '' ? name : `${within}.${name}`);
		return Object.entries(required).every(
			([name, member]) =>
				member === undefined || coversValue(field, isObject(value) ? ownMember(value, name) : undefined, member, inner(name)),
		);
	}
	return comparableForm(field, value, within) === comparableForm(field, required, within);
}

/** Whether the order of a field's values has no meaning: JSON may be coordinates. */
export const isUnordered = (field: ComparedField | undefined): boolean => field !== undefined && valueShape(field) === 'list';

/** What equal values that are neither lists nor objects have in common. */
function comparableForm(field: ComparedField | undefined, value: unknown, within: string): unknown {
	const plain = canonicalForm(value, field, within);
	// Services write an id as a number or as text.
	if (field?.collection !== undefined && typeof plain === 'number') return String(plain);
	const isInstant = !(field && isPlainText(field)) && typeof plain === 'string' && rfc3339.test(plain);
	return isInstant ? Date.parse(plain) : plain;
}
