import type { IDataObject } from 'n8n-workflow';

import { compareInstants } from '../values/dates';

/** The state of a record, which differs after each change: its version, or the time of its last change. */
export interface RecordState {
	version?: unknown;
	time?: unknown;
}

export const recordStateOf = ({ version, updated_at: time }: IDataObject): RecordState => ({ version, time });

type StateComparison = 'same' | 'older' | 'newer' | 'different';

/** Compares the current state of a record with a previous one; `unknown` unless both have a version, or both a time. */
export function compareStates(current: RecordState, previous: RecordState): StateComparison | 'unknown' {
	const byVersion = compareMarks(current.version, previous.version);
	const byTime = compareMarks(current.time, previous.time);
	// Some services never increase the version.
	if (byVersion === 'same' && byTime === 'newer') return 'newer';
	return byVersion ?? byTime ?? 'unknown';
}

/** Compares two versions, or two times. */
function compareMarks(current: unknown, previous: unknown): StateComparison | undefined {
	if ((current ?? null) === null || (previous ?? null) === null) return undefined;
	const marks = [String(current), String(previous)] as const;
	if (marks[0] === marks[1]) return 'same';
	if (marks.every(isTimestamp)) return directionOf(compareInstants(...marks));
	const [currentNumber, previousNumber] = [orderNumber(marks[0]), orderNumber(marks[1])];
	if (currentNumber === undefined || previousNumber === undefined) return 'different';
	return directionOf(currentNumber - previousNumber);
}

const directionOf = (difference: number | bigint): StateComparison => (difference < 0 ? 'older' : difference > 0 ? 'newer' : 'same');

const isTimestamp = (text: string): boolean => /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text));

/** Reads a number of any length, or a time as a number; undefined for a hash, which has no order. */
function orderNumber(text: string): bigint | undefined {
	if (/^\d+$/.test(text)) return BigInt(text);
	return isTimestamp(text) ? BigInt(Date.parse(text)) : undefined;
}
