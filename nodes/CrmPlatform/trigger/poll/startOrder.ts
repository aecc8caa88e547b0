import type { DispatchOptions } from './eventChoice';
import type { Outcome } from './outcome';
import type { Group } from './position';

/** Milliseconds before the second attempt; doubles each time. */
const firstDelay = 5_000;
const maxDelay = 5 * 60_000;

/** Maximum number of executions of a group that n8n ends before they begin. */
const maxUnbegun = 10;

/** Number of reads before a refusal is final. Together, they take longer than a replica may lag. */
export const maxRefusals = 4;

export const delayAfter = (tries: number): number => Math.min(firstDelay * 2 ** (tries - 1), maxDelay);

/** What to do with a group after its start; a number is the delay in milliseconds after which to start it again. */
type NextStep = 'finish' | 'set aside' | number;

/**
 * Decides what to do with a group after its start, and counts what its key depends on.
 *
 * @param wasEmitted whether n8n had been asked to start it before, so that an existing execution may be this one
 */
export function advanceGroup(
	group: Group,
	outcome: Outcome,
	wasEmitted: boolean,
	{ doneWhen, attempts, afterCrash }: DispatchOptions,
): NextStep {
	if (outcome === 'rejected by n8n') return firstDelay;
	if (outcome === 'ended before its first node') {
		// Its key is used up although no execution ran.
		group.unbegun += 1;
		return group.unbegun >= maxUnbegun ? 'set aside' : delayAfter(group.unbegun);
	}
	if (outcome === 'unknown' && !wasEmitted && group.isReread) return 'finish';
	if (doneWhen !== 'succeeded' || outcome === 'succeeded') return 'finish';
	// An execution that may have succeeded is not repeated.
	if (group.attempt >= attempts || (outcome === 'unknown' && afterCrash === 'setAside')) return 'set aside';
	group.attempt += 1;
	return outcome === 'unknown' ? 0 : delayAfter(group.attempt - 1);
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

/** Whether an earlier group has to end first to keep the sequence. Only an unreadable group lets later groups pass. */
export function isBehind(group: Group, open: Group[], unread: ReadonlyMap<string, number>): boolean {
	const busyRecords = new Set<string>();
	for (const openGroup of open) {
		if (openGroup === group) return false;
		if (!unread.has(openGroup.name) && !openGroup.records.some((record) => busyRecords.has(record))) return true;
		for (const record of openGroup.records) busyRecords.add(record);
	}
	return false;
}
