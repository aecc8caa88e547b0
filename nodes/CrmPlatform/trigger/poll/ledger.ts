import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import { sha256 } from '../../base/digest';
import { idText } from '../../base/json';
import type { CrmEvent } from '../../log/crmEvent';
import type { Report } from '../triggerContext';

export const groupSchema = z.object({
	/** The name, which never changes: a part of the key by which n8n deduplicates executions. */
	name: z.string(),
	/** The current or next attempt; the first is 1. */
	attempt: z.number().int(),
	/** Number of executions that n8n ended before their first node: they do not count as attempts. */
	unbegun: z.number().int(),
	/** Which execution with its key n8n may have: of an earlier reading of the group, the one it was asked to start, or either. Absent if none. */
	possibleExecution: z.enum(['ofEarlierReading', 'ofStart', 'ofEither']).optional(),
	/** Where the trigger began that read it. */
	beginning: z.string(),
	members: z.array(z.object({
		id: z.string(),
		/** The ID of the record it is about. */
		record: z.string(),
		/** What identifies an event in the log; absent for a record. A restored service may assign ids again. */
		event: z.object({ type: z.string(), sequence: z.number().int(), timestamp: z.string() }).optional(),
	})),
});

/** What one execution starts with. */
export type Group = Readonly<z.infer<typeof groupSchema>>;

/**
 * Its name depends only on the events, so that n8n starts no group twice. Single events always give the same groups; several may be grouped
 * otherwise from another position (docs/reference/triggers.md). It includes the time because a reset service may reuse ids.
 */
export function groupOfEvents(events: CrmEvent[], { beginning }: { beginning: string }): Group {
	const identities = events.map(({ account_id, id, timestamp }) => [account_id, id, timestamp]);
	const members = events.map(({ id, type, sequence, timestamp, data: { object } }) =>
		({ id, record: idText(object.id) ?? id, event: { type, sequence, timestamp } }));
	return { name: nameOf(members, identities), attempt: 1, unbegun: 0, beginning, members };
}

/** @param from the position, and the backfill by which the records were read */
export function groupOfRecords(records: IDataObject[], from: { account: string; beginning: string; begun: string }): Group {
	const { account, beginning, begun } = from;
	const members = records.map(({ id }) => ({ id: String(id), record: String(id) }));
	const identity = [beginning, account, begun, members.map(({ id }) => id)];
	return { name: nameOf(members, identity), attempt: 1, unbegun: 0, beginning, members };
}

function nameOf(members: Group['members'], identity: unknown): string {
	const hash = sha256(JSON.stringify(identity), 'base64url').slice(0, 22);
	return `${memberNoun({ members })}:${members[0]!.id.slice(0, 64)}:${hash}`;
}

export const memberNoun = ({ members }: Pick<Group, 'members'>): 'events' | 'records' => (members[0]!.event ? 'events' : 'records');

/** `The event evt_1`, or `5 events`. */
export const membersText = (nouns: string, ids: string[], article = 'The'): string =>
	ids.length === 1 ? `${article} ${nouns.slice(0, -1)} ${ids[0]}` : `${ids.length} ${nouns}`;

const membersWere = (nouns: string, ids: string[]): string => `${membersText(nouns, ids)} ${ids.length === 1 ? 'was' : 'were'}`;

const recordsPrefix = 'records ';

/** The beginning of a trigger that starts on the records at a path. */
export const beginningWithRecords = (path: string): string => `${recordsPrefix}${path}`;

/** Whether it can be read only while the trigger reads the records that it began with. */
export const needsRecords = ({ beginning }: Group): boolean => beginning.startsWith(recordsPrefix);

export const memberIds = ({ members }: Group): string[] => members.map(({ id }) => id);
const memberRecords = ({ members }: Group): string[] => members.map(({ record }) => record);

/** What it is about: groups that share one of these are started one after the other. Records of two types may have one ID. */
const orderKeys = (group: Group): string[] => group.members.map(({ record, event }) =>
	(event && !needsRecords(group) ? `${event.type.replace(/\..*/s, '')}/${record}` : record));

/** Splits a group, so that what can be read starts without the rest. @param parts the ids of each part */
function splitGroup(group: Group, parts: string[][]): Group[] {
	return parts.map((ids) => {
		const members = group.members.filter(({ id }) => ids.includes(id));
		return { ...group, name: nameOf(members, [group.name, ids]), members };
	});
}

/**
 * How far an execution is known to have come, until its end is known:
 * - `requested`: n8n was asked to start it, for the first time or again.
 * - `found`: n8n has an execution with its key, which may wait for a worker.
 * - `running`: only its end is missing, since n8n has refused to repeat it, or has it while a later one has ended.
 * - `lost`: n8n has lost it, so that it is started again with its key.
 */
type ExecutionState = 'requested' | 'found' | 'running' | 'lost';

/** An execution that n8n was asked to start, and whose end is unknown. */
export interface StartedExecution {
	state: ExecutionState;
	/** When it entered this state (Unix epoch ms). */
	stateAt: number;
	/** The numbers of its first and of its last start: each start of this trigger has a higher one, and a lost one is repeated. */
	firstStartNumber: number;
	lastStartNumber: number;
	/** When the outcome of a later start was first known (Unix epoch ms); Infinity if none is. */
	laterOutcomeAt: number;
	/** Which execution with its key n8n may have had before. */
	possibleBefore: Group['possibleExecution'];
	/** Whether the user knows that its end is missing. */
	isSilenceReported: boolean;
}

/** The events of a group, or the items of its records. */
export type Input = CrmEvent[] | IDataObject[];

/**
 * An entry of the ledger: an open group, and what this process knows about it.
 *
 * A start resets what counts readings and answers, and keeps `rejections` and `absences`; the next attempt resets these, too.
 * `unbegun` is never reset: it is a part of the group, and of its key.
 */
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
	absences: number;
	/** Whether the user knows that it cannot be read. */
	isUnreadReported: boolean;
	/** Absent while the group waits for a start. */
	execution?: StartedExecution | undefined;
}

/** The entry of a group that waits for a start. */
export const entryOf = (group: Group, more: Partial<LedgerEntry> = {}): LedgerEntry =>
	({ group, due: 0, failedReadings: 0, unanswered: 0, rejections: 0, absences: 0, isUnreadReported: false, ...more });

export const isUnderWay = ({ execution }: LedgerEntry): boolean => execution !== undefined && execution.state !== 'lost';

/** The open groups, in sequence, and what this process knows about n8n: it forgets all but the groups when it ends. */
export interface Ledger {
	entries: LedgerEntry[];
	/** Whether the user knows that groups cannot be read: all may wait for the same reason. */
	isOutageReported: boolean;
	/** How often n8n was asked to start an execution: the number of the latest start. */
	startCount: number;
	/** When the outcome of a start was last known (Unix epoch ms). */
	lastOutcomeAt: number;
	/** When n8n was last asked, or a probe started, because of its silence (Unix epoch ms). */
	probedAt: number;
}

/** The ledger after something has happened, and what has to be done next, in this order. */
export interface Decided extends Ledger {
	effects?: LedgerEffect[];
}

export type LedgerEffect =
	| { do: 'start'; group: Group; items: IDataObject[]; startNumber: number }
	/** Ask n8n whether it has an execution of a group. @param mayProbe whether a probe is started if that is not certain */
	| { do: 'ask'; group: Group; mayProbe: boolean }
	/** Start a probe, an execution without items: its end shows where executions run, and which earlier starts are lost. */
	| { do: 'probe'; startNumber: number }
	| { do: 'report'; report: Report };

/** Milliseconds before the second attempt; doubles each time. */
const firstDelay = 5_000;
const maxDelay = 5 * 60_000;
export const delayAfter = (tries: number): number => Math.min(firstDelay * 2 ** (tries - 1), maxDelay);

/** Number of reads before a refusal is final. Together, they take longer than a replica may lag. */
const maxRefusals = 4;

/** Number of questions without an answer before a refusal is final. Before 2.35, n8n never says that it has no execution. */
const maxUnanswered = 8;

/** The ledger of groups that were stored, of which this process knows nothing else yet. */
export const ledgerOf = (groups: Group[]): Ledger => ({
	entries: groups.map((group) => entryOf(group)), isOutageReported: false, startCount: 0, lastOutcomeAt: 0, probedAt: -Infinity,
});

/** The entry of a group; undefined once the group is closed. */
export const entryNamed = ({ entries }: Ledger, name: string): LedgerEntry | undefined => entries.find(({ group }) => group.name === name);

export const replaceEntry = (ledger: Decided, { group: { name } }: LedgerEntry, ...entries: LedgerEntry[]): Decided =>
	({ ...ledger, entries: ledger.entries.flatMap((entry) => (entry.group.name === name ? entries : [entry])) });

export const closeGroup = (ledger: Decided, entry: LedgerEntry): Decided => replaceEntry(ledger, entry);

export const withEffect = ({ effects = [], ...ledger }: Decided, effect: LedgerEffect): Decided => ({ ...ledger, effects: [...effects, effect] });

export const withReport = (ledger: Decided, report: Report): Decided => withEffect(ledger, { do: 'report', report });

/** Closes a group that starts nothing further. @param text what the user reads after “The event evt_1 was” */
export function setAside(ledger: Decided, entry: LedgerEntry, text: string, advice: string): Decided {
	const ids = memberIds(entry.group);
	return withReport(closeGroup(ledger, entry), {
		message: `${membersWere(memberNoun(entry.group), ids)} ${text}`,
		description: `The trigger continues with the others. ${advice} (${ids.join(', ')}).`,
	});
}

/** Why some events or records of a group could not be read. */
interface LoadFailure {
	ids: string[];
	error: Error;
	/** Whether the service has refused them, so that a retry is of little use. */
	isFinal: boolean;
}

/** The items of a group, but for the failures. */
export interface GroupItems {
	items: IDataObject[];
	failures: LoadFailure[];
}

/** Starts a group that was read. One that cannot be read is postponed; n8n is asked for it if it may have been started. */
export function afterLoading(before: Ledger, name: string, loaded: GroupItems, now: number): Decided {
	const entry = entryNamed(before, name);
	if (!entry || isUnderWay(entry)) return before;
	if (loaded.failures.length === 0) return startGroup({ ...before, isOutageReported: false }, entry, loaded.items, now);
	const { group } = entry;
	const ledger: Decided = group.possibleExecution ? withEffect(before, { do: 'ask', group, mayProbe: false }) : before;
	const failedReadings = entry.failedReadings + 1;
	const postponed = { ...entry, failedReadings, due: now + delayAfter(failedReadings) };
	return failedReadings < maxRefusals ? replaceEntry(ledger, entry, postponed) : startReadable(ledger, postponed, loaded, now);
}

/** Starts a group without what cannot be read. Its parts have other keys, so it is divided only once n8n has no execution of the whole. */
function startReadable(ledger: Decided, entry: LedgerEntry, { items, failures }: GroupItems, now: number): Decided {
	const { group, due, failedReadings } = entry;
	const unreadable = failures.map(({ ids }) => ids);
	const readable = memberIds(group).filter((id) => !unreadable.flat().includes(id));
	const isRefused = failures.every(({ isFinal }) => isFinal);
	const mayExist = group.possibleExecution !== undefined;
	const { message } = failures[0]!.error;
	if (isRefused && readable.length === 0 && !mayExist) {
		const text = `set aside and started no ${group.attempt > 1 ? 'further ' : ''}execution: ${message}`;
		return setAside(ledger, entry, text, 'Check what the credential may read, then handle the records yourself');
	}
	if (isRefused && mayExist && entry.unanswered >= maxUnanswered) {
		const text = `set aside, and n8n has not said whether it had started an execution: ${message}`;
		return setAside(ledger, entry, text, 'Look for the execution in the list; if there is none, handle them yourself');
	}
	const mustWait = readable.length === 0 || mayExist;
	const isNews = (mustWait || !isRefused) && !ledger.isOutageReported && !entry.isUnreadReported;
	const noted = isNews ? withReport({ ...ledger, isOutageReported: true }, unreadReport(group, failures)) : ledger;
	const isUnreadReported = entry.isUnreadReported || isNews;
	if (mustWait) return replaceEntry(noted, entry, { ...entry, isUnreadReported });
	const parts = splitGroup(group, [readable, ...unreadable]).map((part) => entryOf(part, { due, failedReadings, isUnreadReported }));
	return startGroup(replaceEntry(noted, entry, ...parts), parts[0]!, items, now);
}

/** Has n8n start an execution, unless there is nothing to report about the records of the group. */
function startGroup(ledger: Decided, entry: LedgerEntry, items: IDataObject[], now: number): Decided {
	if (items.length === 0) return closeGroup(ledger, entry);
	const { group } = entry;
	const startNumber = ledger.startCount + 1;
	const execution: StartedExecution = {
		state: 'requested', stateAt: now, laterOutcomeAt: Infinity,
		firstStartNumber: entry.execution?.firstStartNumber ?? startNumber, lastStartNumber: startNumber,
		possibleBefore: group.possibleExecution, isSilenceReported: entry.execution?.isSilenceReported ?? false,
	};
	const { rejections, absences } = entry;
	const started = entryOf({ ...group, possibleExecution: 'ofStart' }, { execution, rejections, absences });
	return withEffect(replaceEntry({ ...ledger, startCount: startNumber }, entry, started), { do: 'start', group, items, startNumber });
}

/** Sets open groups aside that only an earlier beginning than the one of the position could read. */
export function abandonGroups(ledger: Ledger, { beginning }: { beginning: string }): Decided {
	const isAbandoned = (entry: LedgerEntry) => !isUnderWay(entry) && entry.group.beginning !== beginning && needsRecords(entry.group);
	const groups = ledger.entries.filter(isAbandoned).map(({ group }) => group);
	if (groups.length === 0) return ledger;
	return withReport({ ...ledger, entries: ledger.entries.filter((entry) => !isAbandoned(entry)) }, abandonedReport(groups));
}

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

function unreadReport(group: Group, failures: LoadFailure[]): Report {
	const ids = failures.flatMap((failure) => failure.ids);
	return {
		message: `${membersText(memberNoun(group), ids)} could not be read yet: ${failures[0]!.error.message}`,
		description: `The trigger tries again, and meanwhile continues with the others (${ids.join(', ')}).`,
	};
}

function abandonedReport(groups: Group[]): Report {
	const records = [...new Set(groups.flatMap(memberRecords))];
	return {
		message: `${membersWere('pending records', records)} set aside because the trigger now starts from another point`,
		description: `No execution starts for them (${records.join(', ')}). To start the workflow for changes that had no execution, set Start On to Events, and Start From to A Date before them. Retry failed executions in the list of executions, and read the other records by ID.`,
	};
}
