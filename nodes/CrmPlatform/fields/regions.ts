import { DateTime } from 'luxon';

import { apiValue } from './decideValue';
import type { Field } from './field';
import { fieldErrorOr } from './fieldError';
import { isNumeric, isTimeField } from './fieldKinds';
import { inApiNotation, type Notations } from './notations';

/** A region whose spreadsheets have their own notation of dates and numbers. */
export type Region = 'america' | 'britain' | 'europe';

const regions: Record<Region, { date: string; notations: Notations }> = {
	america: { date: 'MM/dd/yyyy', notations: { dates: 'monthDay', numbers: 'point' } },
	britain: { date: 'dd/MM/yyyy', notations: { dates: 'dayMonth', numbers: 'point' } },
	europe: { date: 'dd.MM.yyyy', notations: { dates: 'dayMonth', numbers: 'comma' } },
};

/**
 * Returns a function that writes dates and numbers as a region does. A value stays unchanged if an import with the
 * matching *Values In* would read a different value from its text, such as a time with milliseconds.
 *
 * @param zone of times
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
