import { listIn } from '../values/blank';
import { toChoice } from '../fields/conversions';
import type { Field } from '../fields/field';

/**
 * Returns a function that converts the values of a field for people: a choice to its label, a list to text with commas. A
 * value stays unchanged if an import would read a different value from its text.
 */
export function readableText(field: Field | undefined): (value: unknown) => unknown {
	const isRead = ({ label, value }: { label: string; value: unknown }) =>
		label.trim() !== '' && toChoice({ ...field!, kind: 'choice' }, label) === value;
	const labels = new Map<unknown, string>((field?.choices ?? []).filter(isRead).map(({ label, value }) => [value, label]));
	const labelOf = (value: unknown): unknown => labels.get(value) ?? value;
	return (value) => (Array.isArray(value) ? listText(value.map(labelOf)) : labelOf(value));
}

/** A list as text; the list itself if its text would be read as a different list. */
function listText(values: unknown[]): unknown {
	if (values.some((value) => typeof value === 'object')) return values;
	const text = values.join(', ');
	const read = listIn(text);
	return read.length === values.length && read.every((value, i) => value === String(values[i])) ? text : values;
}
