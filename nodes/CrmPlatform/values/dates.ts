import { DateTime } from 'luxon';

/**
 * A number is milliseconds since 1970 between March 1973 and the end of 9999. The seconds of any date
 * people write are smaller, as are days and digits such as 20260331; its microseconds are larger.
 */
const earliest = 100_000_000_000;
const latest = 253_402_300_799_999;

/** Text begins with a whole date: luxon would read `14:30` as today, and `1711111` as a day of 1711. */
const beginsWithDate = /^\d{4}-\d{2}-\d{2}(?!\d)/;

/**
 * Reads a moment from a Date, a DateTime, epoch milliseconds, or text in ISO 8601 (a space may stand
 * for its T).
 *
 * @param zone IANA time zone of a text without one
 * @returns undefined where the value is not a moment
 */
export function parseMoment(value: unknown, zone: string): DateTime | undefined {
	const moment = parsed(value, zone);
	return moment?.isValid && Math.abs(moment.offset) <= farthestZone / 60_000 ? moment : undefined;
}

function parsed(value: unknown, zone: string): DateTime | undefined {
	if (DateTime.isDateTime(value)) return value;
	// In UTC, as its text and its milliseconds: JSON and databases have dates without time there.
	if (value instanceof Date) return DateTime.fromJSDate(value, { zone: 'utc' });
	const text = typeof value === 'string' ? value.trim() : '';
	if (typeof value === 'number' || /^\d{12,15}$/.test(text)) {
		const milliseconds = Number(value);
		const isPlausible = milliseconds >= earliest && milliseconds <= latest;
		return isPlausible ? DateTime.fromMillis(milliseconds, { zone: 'utc' }) : undefined;
	}
	if (!beginsWithDate.test(text)) return undefined;
	return DateTime.fromISO(text.replace(' ', 'T'), { zone, setZone: true });
}

/** The moment as the service writes instants. */
export function instant(moment: DateTime): string | null {
	return moment.toUTC().toISO();
}

/**
 * The date of a moment: the one it was written with where it has no time of day, since midnight is
 * how a date is written by a system without a type for dates. With a time of day, it is the date
 * that moment has in the workflow's time zone.
 */
export function calendarDate(moment: DateTime, zone: string): string | null {
	const { hour, minute, second } = moment;
	return hour + minute + second === 0 ? moment.toISODate() : moment.setZone(zone).toISODate();
}

/** The time from the first to the last millisecond that a value may stand for. */
export interface TimeSpan {
	from: number;
	to: number;
}

/**
 * What a moment may stand for. A system that keeps seconds, minutes or days writes nothing or zeros for the
 * rest, and the day of a time zone that is not told.
 */
export function timeSpan(value: unknown, zone: string): TimeSpan | undefined {
	const moment = parseMoment(value, zone);
	if (!moment) return undefined;
	const from = moment.toMillis();
	if (moment.millisecond > 0) return { from, to: from };
	if (moment.second > 0) return { from, to: from + second - 1 };
	const isMidnight = [moment, moment.toUTC()].some((dateTime) => dateTime.hour + dateTime.minute === 0);
	if (!isMidnight) return { from, to: from + 60 * second - 1 };
	return { from: from - farthestZone, to: from + day + farthestZone - 1 };
}

const second = 1_000;
const day = 86_400 * second;
/** Kiribati’s distance from UTC. */
export const farthestZone = 14 * 3_600 * second;
