import type { IDataObject } from 'n8n-workflow';

/** What tells whether a record has changed: its version, or the time of its last change where a service counts none. */
export interface RecordState {
	version?: unknown;
	time?: unknown;
}

export const recordStateOf = ({ version, updated_at: time }: IDataObject): RecordState => ({ version, time });

type StateComparison = 'same' | 'older' | 'newer' | 'different';

/** A record's state, beside another that it had once. `unknown` where the two have nothing in common. */
export function compareStates(now: RecordState, then: RecordState): StateComparison | 'unknown' {
	const byVersion = compared(now.version, then.version);
	const byTime = compared(now.time, then.time);
	// A version may not count.
	if (byVersion === 'same' && byTime === 'newer') return 'newer';
	return byVersion ?? byTime ?? 'unknown';
}

function compared(a: unknown, b: unknown): StateComparison | undefined {
	if ((a ?? undefined) === undefined || (b ?? undefined) === undefined) return undefined;
	const texts = [String(a), String(b)] as const;
	if (texts[0] === texts[1]) return 'same';
	// One of two notations of a time may end with the seconds.
	const unit = texts.every((text) => /\.\d/.test(text)) || !texts.every(isTime) ? 1n : 1000n;
	const [order, otherOrder] = [orderOf(texts[0]), orderOf(texts[1])];
	if (order === undefined || otherOrder === undefined) return 'different';
	return order / unit === otherOrder / unit ? 'same' : order < otherOrder ? 'older' : 'newer';
}

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\dT/.test(text) && !Number.isNaN(Date.parse(text));

/** What counts up: a number, of any length, or a time; undefined for a hash. */
function orderOf(text: string): bigint | undefined {
	if (/^\d+$/.test(text)) return BigInt(text);
	return isTime(text) ? BigInt(Date.parse(text)) : undefined;
}
