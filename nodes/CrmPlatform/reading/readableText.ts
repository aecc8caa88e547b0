import { listIn } from '../values/blank';
import { toChoice } from '../fields/conversions';
import type { Field } from '../fields/field';

/**
 * How people read the values of a field: a choice by its label, a list with commas. An import reads the same
 * from it; a value of which it would not stays as it is.
 */
export function readableText(field: Field | undefined): (value: unknown) => unknown {
	const isRead = ({ label, value }: { label: string; value: unknown }) =>
		label.trim() !== '' && toChoice({ ...field!, kind: 'choice' }, label) === value;
	const labels = new Map<unknown, string>((field?.choices ?? []).filter(isRead).map(({ label, value }) => [value, label]));
	const labelOf = (value: unknown): unknown => labels.get(value) ?? value;
	return (value) => (Array.isArray(value) ? listText(value.map(labelOf)) : labelOf(value));
}

/** A list as text; the list itself where its text would be read as another one. */
function listText(values: unknown[]): unknown {
	if (values.some((one) => typeof one === 'object')) return values;
	const text = values.join(', ');
	const read = listIn(text);
	return read.length === values.length && read.every((one, i) => one === String(values[i])) ? text : values;
}
