import type { IDataObject } from 'n8n-workflow';

/** What tells whether a record has changed: its version, or the time of its last change where a service counts none. */
export interface RecordState {
	version?: unknown;
	time?: unknown;
}

export const recordStateOf = ({ version, updated_at: time }: IDataObject): RecordState => ({ version, time });

/** A record's state, beside another that it had once. `unknown` where the two have nothing in common. */
export function compareStates(now: RecordState, then: RecordState): 'same' | 'older' | 'newer' | 'different' | 'unknown' {
	for (const name of ['version', 'time'] as const) {
		const [one, other] = [now[name] ?? undefined, then[name] ?? undefined];
		if (one === undefined || other === undefined) continue;
		if (String(one) === String(other)) return 'same';
		const [number, otherNumber] = [orderOf(one), orderOf(other)];
		if (number === undefined || otherNumber === undefined) return 'different';
		return number === otherNumber ? 'same' : number < otherNumber ? 'older' : 'newer';
	}
	return 'unknown';
}

/** What counts up: a number, or a time; undefined for a hash. */
function orderOf(version: unknown): number | undefined {
	const text = String(version);
	if (/^\d+$/.test(text)) return Number(text);
	const time = /^\d{4}-\d\d-\d\dT/.test(text) ? Date.parse(text) : NaN;
	return Number.isNaN(time) ? undefined : time;
}
