import type { DispatchOptions } from './pollProperties';
import { type Group, type Position, splitOff } from './position';
import type { LoadFailure } from './loadGroup';
import type { Outcome } from './outcome';

/** A group that waits for its next start or reading. */
interface Wait {
	/** When it may be started next (Unix epoch ms). */
	due: number;
	/** How often its items could not be read. */
	failedReadings: number;
	/** Whether the user knows that it cannot be read. */
	isReported: boolean;
}

/** The open groups, and what this process knows about them: it forgets the waits when it ends. */
export interface GroupLedger {
	open: Group[];
	/** By the name of the group. */
	waits: ReadonlyMap<string, Wait>;
	/** Whether the user knows that groups cannot be read: all may wait for the same reason. */
	isOutageReported: boolean;
}

export type GroupEvent =
	/** Its items were read, but for the failures. @param isStarted whether n8n has started it before, once n8n was asked */
	| { is: 'read'; name: string; failures: LoadFailure[]; isStarted?: boolean }
	| { is: 'emitted'; name: string }
	/** @param wasEmitted whether n8n had been asked to start it before, so that an existing execution may be this one */
	| { is: 'settled'; name: string; outcome: Outcome; wasEmitted: boolean }
	| { is: 'closed'; names: string[] };

export type GroupEffect =
	| { do: 'start'; group: Group }
	/** Ask n8n whether it has started the group, when all of it was readable. */
	| { do: 'seek'; group: Group }
	| { do: 'report set aside'; group: Group; outcome: Outcome }
	| { do: 'report unread'; group: Group; failures: LoadFailure[]; fate: 'waits' | 'set aside' };

interface Step {
	ledger: GroupLedger;
	effects: GroupEffect[];
}

/** Milliseconds before the second attempt; doubles each time. */
const firstDelay = 5_000;
const maxDelay = 5 * 60_000;

/** Maximum number of executions of a group that n8n ends before they begin. */
const maxUnbegun = 10;

/** Number of reads before a refusal is final. Together, they take longer than a replica may lag. */
const maxRefusals = 4;

const noWait: Wait = { due: 0, failedReadings: 0, isReported: false };

const delayAfter = (tries: number): number => Math.min(firstDelay * 2 ** (tries - 1), maxDelay);

/** What the open groups become, and what is to be done. */
export function nextGroups(ledger: GroupLedger, event: GroupEvent, options: DispatchOptions, now: number): Step {
	if (event.is === 'closed') return { ledger: event.names.reduce((next, name) => replaced(next, name, []), ledger), effects: [] };
	const group = ledger.open.find(({ name }) => name === event.name);
	if (!group) return { ledger, effects: [] };
	if (event.is === 'read') return afterReading(ledger, group, event, options, now);
	if (event.is === 'settled') return afterOutcome(ledger, group, event, options, now);
	return { ledger: replaced(ledger, group.name, [{ ...group, isEmitted: true }]), effects: [] };
}

/** Replaces a group, and ends its wait. */
function replaced(ledger: GroupLedger, name: string, groups: Group[]): GroupLedger {
	const waits = new Map(ledger.waits);
	waits.delete(name);
	return { ...ledger, waits, open: ledger.open.flatMap((group) => (group.name === name ? groups : [group])) };
}

const waiting = (ledger: GroupLedger, name: string, wait: Partial<Wait>): GroupLedger =>
	({ ...ledger, waits: new Map(ledger.waits).set(name, { ...noWait, ...ledger.waits.get(name), ...wait }) });

function afterOutcome(
	ledger: GroupLedger,
	group: Group,
	{ outcome, wasEmitted }: Omit<Extract<GroupEvent, { is: 'settled' }>, 'is' | 'name'>,
	{ doneWhen, attempts, afterCrash }: DispatchOptions,
	now: number,
): Step {
	const { name, attempt, unbegun, isReread } = group;
	const again = (next: Group, delay: number): Step => ({ ledger: waiting(replaced(ledger, name, [next]), name, { due: now + delay }), effects: [] });
	const setAside = (last: Group): Step => ({ ledger: replaced(ledger, name, []), effects: [{ do: 'report set aside', group: last, outcome }] });
	const done: Step = { ledger: replaced(ledger, name, []), effects: [] };
	if (outcome === 'rejected by n8n') return again(group, firstDelay);
	if (outcome === 'ended before its first node') {
		// Its key is used up although no execution ran.
		const next = { ...group, unbegun: unbegun + 1 };
		return next.unbegun >= maxUnbegun ? setAside(next) : again(next, delayAfter(next.unbegun));
	}
	if (outcome === 'unknown' && !wasEmitted && isReread) return done;
	if (doneWhen !== 'succeeded' || outcome === 'succeeded') return done;
	// An execution that may have succeeded is not repeated.
	if (attempt >= attempts || (outcome === 'unknown' && afterCrash === 'setAside')) return setAside(group);
	return again({ ...group, attempt: attempt + 1 }, outcome === 'unknown' ? 0 : delayAfter(attempt));
}

/** Sets aside what could not be read if the service keeps refusing it; until then, postpones it. */
function afterReading(
	ledger: GroupLedger,
	group: Group,
	{ failures, isStarted }: Extract<GroupEvent, { is: 'read' }>,
	options: DispatchOptions,
	now: number,
): Step {
	const { name } = group;
	if (failures.length === 0) {
		return { ledger: { ...replaced(ledger, name, [group]), isOutageReported: false }, effects: [{ do: 'start', group }] };
	}
	const wait = ledger.waits.get(name) ?? noWait;
	const left = group.ids.filter((id) => !failures.some(({ ids }) => ids.includes(id)));
	const failedReadings = wait.failedReadings + 1;
	const due = now + delayAfter(failedReadings);
	const isRefused = failures.every(({ isFinal }) => isFinal);
	const isNews = !isRefused && failedReadings >= maxRefusals && !ledger.isOutageReported && !wait.isReported;
	const reported = isNews ? { ...waiting(ledger, name, { isReported: true }), isOutageReported: true } : ledger;
	const report: GroupEffect[] = isNews ? [{ do: 'report unread', group, failures, fate: 'waits' }] : [];
	// At first a group is read as a whole, then without its unreadable part.
	if (failedReadings < maxRefusals || (left.length === 0 && !isRefused)) {
		return { ledger: waiting(reported, name, { failedReadings, due }), effects: report };
	}
	// The group may have been started before n8n was killed, when all of it was readable.
	if (isStarted === undefined) return { ledger: reported, effects: [...report, { do: 'seek', group }] };
	if (isStarted) return afterOutcome(reported, group, { outcome: 'unknown', wasEmitted: group.isEmitted === true }, options, now);
	if (left.length === 0) {
		return { ledger: replaced(reported, name, []), effects: [{ do: 'report unread', group, failures, fate: 'set aside' }] };
	}
	const [rest, ...others] = splitOff(group, left, failures.map(({ ids }) => ids));
	const split = others.reduce(
		(next, other) => waiting(next, other.name, { failedReadings, due }),
		replaced(reported, name, [rest!, ...others]),
	);
	return { ledger: split, effects: [...report, { do: 'start', group: rest! }] };
}

/** Groups that are due, in order, without those behind another group of the same record. */
export function startable({ open, waits }: GroupLedger, isRunning: (name: string) => boolean, now: number): Group[] {
	const busyRecords = new Set<string>();
	return open.filter(({ name, records }) => {
		const isFree = !records.some((record) => busyRecords.has(record));
		for (const record of records) busyRecords.add(record);
		return isFree && !isRunning(name) && (waits.get(name)?.due ?? 0) <= now;
	});
}

/** Whether an earlier group has to end first to keep the sequence. Only an unreadable group lets later groups pass. */
export function isBehind(group: Group, { open, waits }: GroupLedger): boolean {
	const busyRecords = new Set<string>();
	for (const { name, records } of open) {
		if (name === group.name) return false;
		const isUnread = (waits.get(name)?.failedReadings ?? 0) > 0;
		if (!isUnread && !records.some((record) => busyRecords.has(record))) return true;
		for (const record of records) busyRecords.add(record);
	}
	return false;
}

/** When the next group is due, later than this instant (Unix epoch ms); Infinity if none waits. */
export function nextDue({ waits }: GroupLedger, after: number): number {
	// A group that is due and was not started waits for the end of another execution.
	return Math.min(...[...waits.values()].flatMap(({ due }) => (due > after ? [due] : [])));
}

/** Maximum number of open groups: n8n stores all of them each time. */
export const maxOpen = 500;

/** Number of events or records to read ahead, so that the next one is ready when an execution ends. */
const maxAhead = 50;

/** How many groups may be opened now: none or many, as each reading costs a request. */
export function roomForGroups(open: number, ready: number, groupSize: number): number {
	const maxGroups = Math.max(2, Math.floor(maxAhead / groupSize));
	return open >= maxOpen || ready > maxGroups / 2 ? 0 : Math.min(maxGroups - ready, maxOpen - open);
}

/** Whether a group belongs to an earlier beginning, and its records are no longer known. */
export const isAbandoned = ({ kind, start }: Group, position: Position): boolean =>
	start !== position.start && (kind === 'records' || start.startsWith('records '));
