import type { DispatchOptions } from './eventChoice';
import type { Outcome } from './outcome';
import type { Group } from './position';

/** Milliseconds before the second attempt; doubles each time. */
const firstDelay = 5_000;
const maxDelay = 5 * 60_000;

/** Maximum number of executions of a group that n8n ends before they begin. */
const maxUnbegun = 10;

/** Number of reads before a refusal is final; they take longer than a replica may lag. */
export const maxRefusals = 4;

export const delayAfter = (tries: number): number => Math.min(firstDelay * 2 ** (tries - 1), maxDelay);

/** What to do with a group after its start: with `delay`, to start it again so many milliseconds later. */
type NextStep = 'finish' | 'set aside' | { delay: number; isNewAttempt: boolean };

/** @param wasEmitted whether n8n had been asked to start it before, so that an existing execution may be this one */
export function stepAfter(
	outcome: Outcome,
	{ attempt, unbegun, isReread }: Group,
	wasEmitted: boolean,
	{ doneWhen, attempts, afterCrash }: DispatchOptions,
): NextStep {
	if (outcome === 'rejected by n8n') return { delay: firstDelay, isNewAttempt: false };
	if (outcome === 'ended before its first node') return unbegun >= maxUnbegun ? 'set aside' : { delay: delayAfter(unbegun), isNewAttempt: false };
	if (outcome === 'unknown' && !wasEmitted && isReread) return 'finish';
	if (doneWhen !== 'succeeded' || outcome === 'succeeded') return 'finish';
	// An execution that may have succeeded is not repeated.
	if (attempt >= attempts || (outcome === 'unknown' && afterCrash === 'setAside')) return 'set aside';
	return { delay: outcome === 'unknown' ? 0 : delayAfter(attempt), isNewAttempt: true };
}

/** Groups that are due, in order, without those behind another group of the same record. */
export function firstOfRecords(open: Group[], isDue: (group: Group) => boolean): Group[] {
	const busyRecords = new Set<string>();
	return open.filter((group) => {
		const isFree = !group.records.some((record) => busyRecords.has(record));
		for (const record of group.records) busyRecords.add(record);
		return isFree && isDue(group);
	});
}

/** Whether an earlier group has to end first to keep the sequence. Only unreadable groups let later ones pass. */
export function isBehind(group: Group, open: Group[], unread: ReadonlyMap<string, number>): boolean {
	const busyRecords = new Set<string>();
	for (const openGroup of open) {
		if (openGroup === group) return false;
		if (!unread.has(openGroup.name) && !openGroup.records.some((record) => busyRecords.has(record))) return true;
		for (const record of openGroup.records) busyRecords.add(record);
	}
	return false;
}
