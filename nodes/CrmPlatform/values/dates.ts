import { DateTime } from 'luxon';

import { trimmed } from './foldedText';

/**
 * A number counts as milliseconds since 1970 from March 1973 to the end of 9999. Seconds since 1970 are smaller for any
 * plausible date, as are days and digits such as 20260331; microseconds are larger.
 */
const earliest = 100_000_000_000;
const latest = 253_402_300_799_999;

/** A date and time without separators, such as `202603311200`, which would be milliseconds of another year. */
const compactTime = /^(?:19|20)\d\d(?:0[1-9]|1[0-2])(?:0[1-9]|[12]\d|3[01])(?:[01]\d|2[0-3])(?:[0-5]\d){1,2}$/;

/** Text has to begin with a full date: luxon would read `14:30` as today, and `1711111` as a day of 1711. */
const beginsWithDate = /^\d{4}-\d{2}-\d{2}(?!\d)/;

/**
 * Reads a moment from a Date, a DateTime, epoch milliseconds, or text in ISO 8601 (with a T or a space).
 *
 * @param zone IANA time zone of a text without one
 * @returns undefined if the value is not a moment
 */
export function parseMoment(value: unknown, zone: string): DateTime | undefined {
	const moment = momentOf(value, zone);
	return moment?.isValid && Math.abs(moment.offset) <= farthestZone / 60_000 ? moment : undefined;
}

function momentOf(value: unknown, zone: string): DateTime | undefined {
	if (DateTime.isDateTime(value)) return value;
	// In UTC, as in its JSON text: databases return a date without a time as midnight UTC.
	if (value instanceof Date) return DateTime.fromJSDate(value, { zone: 'utc' });
	const text = typeof value === 'string' ? trimmed(value) : '';
	if (typeof value === 'number' || /^\d{12,15}$/.test(text)) {
		const milliseconds = Number(value);
		const isPlausible = milliseconds >= earliest && milliseconds <= latest && !compactTime.test(String(milliseconds));
		return isPlausible ? DateTime.fromMillis(milliseconds, { zone: 'utc' }) : undefined;
	}
	if (!beginsWithDate.test(text)) return undefined;
	return DateTime.fromISO(text.replace(' ', 'T'), { zone, setZone: true });
}

/**
 * Whether the clocks of a time zone show a text without a zone twice, as they go back, or never, as they go forward over it;
 * undefined if it is one moment.
 */
export function clockChangeAt(value: unknown, zone: string): 'twice' | 'never' | undefined {
	const text = typeof value === 'string' ? trimmed(value).replace(' ', 'T') : '';
	if (!beginsWithDate.test(text) || !/T\d/.test(text)) return undefined;
	const moment = DateTime.fromISO(text, { zone, setZone: true });
	if (!moment.isValid || moment.zone.type === 'fixed') return undefined;
	if (moment.getPossibleOffsets().length > 1) return 'twice';
	const written = DateTime.fromISO(text, { zone: 'utc' });
	return moment.hour === written.hour && moment.minute === written.minute ? undefined : 'never';
}

/** The moment as the service writes instants; null after 9999, which RFC 3339 cannot write. */
export function instant(moment: DateTime): string | null {
	const utc = moment.toUTC();
	return utc.toMillis() > latest ? null : utc.toISO();
}

/** An instant as people in a time zone read it: in UTC, it may be another day. */
export function momentIn(value: unknown, zone: string): unknown {
	const moment = typeof value === 'string' ? parseMoment(value, 'utc')?.setZone(zone) : undefined;
	return !moment?.isValid || moment.offset === 0 ? value : `${moment.toFormat('yyyy-MM-dd HH:mm:ss')} (${zone})`;
}

/** The first moment of a day: where clocks go back at midnight, as in the Azores and Havana, a day has two midnights. */
export function startOfDay(moment: DateTime): DateTime {
	const midnight = moment.startOf('day');
	const hourBefore = midnight.minus({ hours: 1 });
	return hourBefore.hasSame(midnight, 'day') ? hourBefore : midnight;
}

/** The start of the next day: in some time zones, clocks skip midnight. The last moment that can be written ends all days. */
export function nextDay(day: DateTime): DateTime {
	const start = startOfDay(day.plus({ days: 1 }));
	return start.toMillis() > latest ? DateTime.fromMillis(latest, { zone: 'utc' }) : start;
}

/**
 * The calendar date of a moment. Midnight in its own time zone keeps its date, since systems without a type for dates
 * write a date like that. Any other time has its date in the workflow's time zone.
 */
export function calendarDate(moment: DateTime, zone: string): string | null {
	const { hour, minute, second } = moment;
	return hour + minute + second === 0 ? moment.toISODate() : moment.setZone(zone).toISODate();
}

/** The first and the last millisecond that a value may mean. */
export interface TimeSpan {
	from: number;
	to: number;
}

/**
 * The times that a value may mean. A system that stores only seconds, minutes or days omits the rest or writes
 * zeros, and does not say in which time zone a day is.
 */
export function timeSpan(value: unknown, zone: string): TimeSpan | undefined {
	const moment = parseMoment(value, zone);
	if (!moment) return undefined;
	// A time that clocks show twice may be either.
	const possible = clockChangeAt(value, zone) === 'twice' ? moment.getPossibleOffsets().map((each) => each.toMillis()) : [moment.toMillis()];
	const [from, last] = [Math.min(...possible), Math.max(...possible)];
	if (moment.millisecond > 0) return { from, to: last };
	if (moment.second > 0) return { from, to: last + second - 1 };
	const isMidnight = [moment, moment.toUTC()].some((dateTime) => dateTime.hour + dateTime.minute === 0);
	if (!isMidnight) return { from, to: last + 60 * second - 1 };
	return { from: from - farthestZone, to: from + day + farthestZone - 1 };
}

const second = 1_000;
const day = 86_400 * second;
/** Matches a time with its zone (RFC 3339). */
export const rfc3339 = /^\d{4}-\d\d-\d\dT\d\d:\d\d.*(Z|[+-]\d\d:\d\d)$/;

/** Milliseconds between UTC and the farthest time zone, Kiribati’s. */
const farthestZone = 14 * 3_600 * second;
