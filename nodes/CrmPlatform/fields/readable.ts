import { DateTime } from 'luxon';

import { listIn } from '../values/blank';
import { toChoice, isNumeric, isTimeField } from './fieldKinds';
import { apiValue } from './convertValue';
import { type Field, fieldErrorOr } from './field';
import { inApiNotation, type Notations } from './notations';

/**
 * Returns a function that converts the values of a field for people: a choice to its label, a list to text with commas. A
 * value stays unchanged if an import would read a different value from its text.
 */
export function labelText(field: Field | undefined): (value: unknown) => unknown {
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

/** A region whose spreadsheets have their own notation of dates and numbers. */
export type Region = 'america' | 'britain' | 'europe';

const regions: Record<Region, { date: string; notations: Notations }> = {
	america: { date: 'MM/dd/yyyy', notations: { dates: 'monthDay', numbers: 'point' } },
	britain: { date: 'dd/MM/yyyy', notations: { dates: 'dayMonth', numbers: 'point' } },
	europe: { date: 'dd.MM.yyyy', notations: { dates: 'dayMonth', numbers: 'comma' } },
};

/**
 * Returns what writes dates and numbers as a region does. A value stays unchanged if an import with the matching *Values In* would
 * read a different value from its text, such as a time with milliseconds.
 */
export function notationFor(region: Region, zone: string): (value: unknown, field: Field | undefined) => unknown {
	const { date, notations } = regions[region];
	const textOf = (value: unknown): string | undefined => {
		if (typeof value === 'number') return notations.numbers === 'comma' ? String(value).replace('.', ',') : undefined;
		if (typeof value !== 'string') return undefined;
		if (/^\d{4}-\d\d-\d\d$/.test(value)) return DateTime.fromISO(value).toFormat(date);
		return /^\d{4}-\d\d-\d\dT[\d:.]+Z$/.test(value) ? DateTime.fromISO(value, { zone }).toFormat(`${date} HH:mm:ss`) : undefined;
	};
	return (value, field) => {
		const text = textOf(value);
		if (text === undefined) return value;
		// A read-only field, which an import does not read.
		if (!field) return text;
		if (!isNumeric(field) && !isTimeField(field)) return value;
		const read = fieldErrorOr(() => apiValue(field, inApiNotation(field, text, notations), zone));
		return read === value || DateTime.fromISO(String(read)).toMillis() === DateTime.fromISO(String(value)).toMillis() ? text : value;
	};
}
