import type { IDataObject } from 'n8n-workflow';

import type { CrmEvent } from '../../log/crmEvent';
import { type Group, orderKeys } from './groups';

/**
 * How far an execution is known to have come, until its end is known:
 * - `requested`: n8n was asked to start it, for the first time or again.
 * - `found`: n8n has an execution with its key, which may wait for a worker.
 * - `running`: only its end is missing, since n8n has refused to repeat it, or has it while a later one has ended.
 * - `lost`: n8n has lost it, so that it is started again with its key.
 */
type ExecutionState = 'requested' | 'found' | 'running' | 'lost';

/** An execution that n8n was asked to start, and whose end is unknown. */
export interface AwaitedExecution {
	state: ExecutionState;
	/** When it entered this state (Unix epoch ms). */
	stateAt: number;
	/** The numbers of its first and of its last start: each start of this trigger has a higher one, and a lost one is repeated. */
	firstStartNumber: number;
	lastStartNumber: number;
	/** When the outcome of a later start was first known (Unix epoch ms); Infinity if none is. */
	laterOutcomeAt: number;
	/** Whether an execution that has its key is of an earlier reading of the group: until this start, n8n was not asked for it since. */
	isEarlier: boolean;
	/** Whether the user knows that its end is missing. */
	isSilenceReported: boolean;
}

/** The events of a group, or the items of its records. */
export type Input = CrmEvent[] | IDataObject[];

/** An entry of the ledger: an open group, and what this process knows about it. */
export interface LedgerEntry {
	readonly group: Group;
	/** What was just read of it. */
	input?: Input | undefined;
	/** When it may be started next (Unix epoch ms). */
	due: number;
	/** How often its items could not be read. */
	failedReadings: number;
	/** How often n8n has not answered whether it has an execution of it. */
	unanswered: number;
	/** How often n8n has not started an execution of it: the next start waits longer. */
	rejections: number;
	/** How often n8n, whose database was thus available, has said that it has no execution of it. */
	denials: number;
	/** Whether the user knows that it cannot be read. */
	isUnreadReported: boolean;
	/** Absent while the group waits for a start. */
	execution?: AwaitedExecution | undefined;
}

/** The entry of a group that waits for a start. */
export const entryOf = (group: Group, more: Partial<LedgerEntry> = {}): LedgerEntry =>
	({ group, due: 0, failedReadings: 0, unanswered: 0, rejections: 0, denials: 0, isUnreadReported: false, ...more });

/** Whether an execution of the group is under way, as far as is known. */
export const isUnderWay = ({ execution }: LedgerEntry): boolean => execution !== undefined && execution.state !== 'lost';

/**
 * Groups that may be started, in order, without those behind another group of the same record.
 *
 * @param inSequence whether an earlier group has to end first. Only an unreadable group lets later groups pass
 */
export function startable(entries: LedgerEntry[], now: number, inSequence = false): LedgerEntry[] {
	const busyKeys = new Set<string>();
	let isHeld = false;
	return entries.filter((entry) => {
		const keys = orderKeys(entry.group);
		const isFree = !isHeld && !keys.some((key) => busyKeys.has(key));
		for (const key of keys) busyKeys.add(key);
		isHeld ||= inSequence && isFree && entry.failedReadings === 0;
		return isFree && !isUnderWay(entry) && entry.due <= now;
	});
}

/** When the next group is due, later than this instant (Unix epoch ms); Infinity if none waits. */
export function nextDue(entries: LedgerEntry[], after: number): number {
	// A group that is due and was not started waits for the end of another execution.
	return Math.min(...entries.flatMap(({ due }) => (due > after ? [due] : [])));
}

/** Maximum number of open groups: n8n stores all of them each time. */
const maxOpen = 500;

/** Number of events or records to read ahead, so that the next one is ready when an execution ends. */
const maxAhead = 50;

/** How many groups may be opened now: none or many, as each reading costs a request. */
export function roomForGroups(entries: LedgerEntry[], now: number, groupSize: number): number {
	const ready = startable(entries, now).length;
	const maxGroups = Math.max(2, Math.floor(maxAhead / groupSize));
	return ready > maxGroups / 2 ? 0 : Math.min(maxGroups - ready, Math.max(0, maxOpen - entries.length));
}
