import type { Group } from './position';

/** Milliseconds before the second attempt; doubles each time. */
export const firstDelay = 5_000;
const maxDelay = 5 * 60_000;

/** Maximum number of executions of a group that n8n ends before they begin. */
export const maxUnbegun = 10;

/** Number of reads before a refusal is final; they take longer than a replica may lag. */
export const maxRefusals = 4;

export const delayAfter = (tries: number): number => Math.min(firstDelay * 2 ** (tries - 1), maxDelay);

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
