import type { IDataObject } from 'n8n-workflow';

import { compareInstants } from '../values/instants';

/** The state of a record, which differs after each change: its version, or the time of its last change. */
export interface RecordState {
	version?: unknown;
	time?: unknown;
}

export const recordStateOf = ({ version, updated_at: time }: IDataObject): RecordState => ({ version, time });

type StateComparison = 'same' | 'older' | 'newer' | 'different';

/** Compares the current state of a record with a former one. `unknown` if the two have neither in common. */
export function compareStates(current: RecordState, former: RecordState): StateComparison | 'unknown' {
	const byVersion = compareMarks(current.version, former.version);
	const byTime = compareMarks(current.time, former.time);
	// Some services never increase the version.
	if (byVersion === 'same' && byTime === 'newer') return 'newer';
	return byVersion ?? byTime ?? 'unknown';
}

/** Compares two versions, or two times. */
function compareMarks(current: unknown, former: unknown): StateComparison | undefined {
	if ((current ?? undefined) === undefined || (former ?? undefined) === undefined) return undefined;
	const marks = [String(current), String(former)] as const;
	if (marks[0] === marks[1]) return 'same';
	if (marks.every(isTimestamp)) return directionOf(compareInstants(...marks));
	const [currentNumber, formerNumber] = [orderNumber(marks[0]), orderNumber(marks[1])];
	if (currentNumber === undefined || formerNumber === undefined) return 'different';
	return directionOf(currentNumber - formerNumber);
}

const directionOf = (difference: number | bigint): StateComparison => (difference < 0 ? 'older' : difference > 0 ? 'newer' : 'same');

const isTimestamp = (text: string): boolean => /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text));

/** Reads a number of any length, or a time as a number; undefined for a hash, which has no order. */
function orderNumber(text: string): bigint | undefined {
	if (/^\d+$/.test(text)) return BigInt(text);
	return isTimestamp(text) ? BigInt(Date.parse(text)) : undefined;
}
