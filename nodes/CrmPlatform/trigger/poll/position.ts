import type { IDataObject, ITriggerFunctions } from 'n8n-workflow';
import { z } from 'zod';

import { sha256 } from '../../base/digest';
import { idText } from '../../base/json';
import { type CrmEvent, matchesEventPattern } from '../../log/crmEvent';
import type { EventLog } from '../../log/eventLog';
import { type EventChoice, eventChoiceSchema, failedFilter } from '../eventFilter';
import { readState } from '../storedState';

const backfillSchema = z.object({
	/** Distinguishes the scope by which the records are read from others. */
	scopeIdentity: z.string(),
	/** Distinguishes it from an earlier backfill: the newest event when it began, and when the position before was last read. */
	begun: z.string(),
	/** When the last record that was read was created, and the ids of the records read that share that instant. */
	last: z.object({ created: z.string(), ids: z.array(z.string()) }).optional(),
	/** The time of that event: records created later have an event that is read. */
	until: z.string().optional(),
	/** When every response includes what happened before the backfill began (Unix epoch ms). */
	ready: z.number(),
	/** Whether records may have been read before: with an earlier scope, or before the position was lost. */
	isReread: z.boolean(),
});

export type Backfill = z.infer<typeof backfillSchema>;

const positionSchema = z.object({
	/** The account that the log belongs to; empty while it is unknown. */
	account: z.string(),
	/** Where the trigger begins, as the user entered it. */
	beginning: z.string(),
	/** The instant of that (RFC 3339); empty for the time of the publish. */
	since: z.string(),
	choice: eventChoiceSchema,
	/** Choices that the user has replaced, the oldest first: earlier events still follow them. */
	replaced: z.array(z.object({
		choice: eventChoiceSchema,
		/** The last event that happened before it was replaced. */
		lastBefore: z.number().int(),
		/** The last event that may have: those from `lastBefore` to this one start if either choice includes them. */
		lastPossiblyBefore: z.number().int(),
	})),
	/** All events up to this sequence were read. */
	sequence: z.number().int(),
	/** Events up to this sequence may have been read before: by another beginning, or before the position was lost. */
	readBefore: z.number().int(),
	/** The newest known event of the log, of any type: it distinguishes the log from another one. */
	newest: z.object({ identity: z.string(), sequence: z.number().int(), timestamp: z.string() }).optional(),
	/** When the log was last read (RFC 3339). */
	at: z.string(),
	backfill: backfillSchema.optional(),
	/** The filters of the records as the user entered them, and with ids instead of names: a name may change. */
	filters: z.object({ entered: z.string(), queries: z.array(z.record(z.unknown())) }).optional(),
});

/** How far the event log was read. */
export type Position = z.infer<typeof positionSchema>;

const groupSchema = z.object({
	/** The name, which never changes: a part of the key by which n8n deduplicates executions. */
	name: z.string(),
	/** The current or next attempt; the first is 1. */
	attempt: z.number().int(),
	/** Number of executions that n8n ended before their first node: they do not count as attempts. */
	unbegun: z.number().int(),
	/** Which execution with its key n8n may have: of an earlier reading of the group, or the one it was asked to start. Absent if none. */
	possibleExecution: z.enum(['earlier', 'requested']).optional(),
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

/** The position that was stored last, and the groups that were read and not finished; undefined if there is none. */
export const storedPosition = (n8n: ITriggerFunctions) => readState(n8n, positionSchema.extend({ open: z.array(groupSchema) }));

/** Maximum lag (ms) of a replica of the log: after this time, every response contains what one response has shown. */
export const maxLag = 10_000;

/** Event types and patterns of all choices that may still match events. */
export function typesToRead({ choice, replaced }: Position): string[] {
	return [...new Set([...replaced.map((other) => other.choice), choice].flatMap(({ events }) => events))].sort();
}

/** Why no choice includes an event that may have been current when it happened; undefined if one does. */
export function whyNotChosen(position: Position, event: CrmEvent): string | undefined {
	if (Date.parse(event.timestamp) < Date.parse(position.since)) return `it happened before ${position.since}`;
	const reasons = choicesAt(position, event.sequence).map(({ events, filter }) =>
		(events.some((pattern) => matchesEventPattern(pattern, event.type)) ? failedFilter(event, filter) : 'its type is not chosen'));
	return reasons.includes(undefined) ? undefined : reasons.at(-1);
}

/** The choices that may have been current when the event with this sequence happened. */
function choicesAt({ choice, replaced }: Position, sequence: number): EventChoice[] {
	const choices: EventChoice[] = [];
	for (const { choice: earlier, lastBefore, lastPossiblyBefore } of replaced) {
		if (sequence <= lastPossiblyBefore) choices.push(earlier);
		// It happened before this one was replaced, so no later one was current.
		if (sequence <= lastBefore) return choices;
	}
	return [...choices, choice];
}

/** Maximum number of events to search for chosen ones: a filter may match rarely, and nobody waits for the whole log. */
const maxSearched = 1_000;

/** The latest chosen events, the newest first. */
export async function latestChosen(log: EventLog, { events, filter }: EventChoice, count: number): Promise<CrmEvent[]> {
	const latest: CrmEvent[] = [];
	let searched = 0;
	for await (const event of log.newestFirst(events)) {
		if (failedFilter(event, filter) === undefined) latest.push(event);
		if (++searched >= maxSearched || latest.length >= count) break;
	}
	return latest;
}

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

export const membersWere = (nouns: string, ids: string[]): string => `${membersText(nouns, ids)} ${ids.length === 1 ? 'was' : 'were'}`;

const recordsPrefix = 'records ';

/** The beginning of a trigger that starts on the records at a path. */
export const beginningWithRecords = (path: string): string => `${recordsPrefix}${path}`;

/** Whether it can be read only while the trigger reads the records that it began with. */
export const needsRecords = ({ beginning }: Group): boolean => beginning.startsWith(recordsPrefix);

export const memberIds = ({ members }: Group): string[] => members.map(({ id }) => id);
export const memberRecords = ({ members }: Group): string[] => members.map(({ record }) => record);

/** What it is about: groups that share one of these are started one after the other. Records of two types may have one ID. */
export const orderKeys = (group: Group): string[] => group.members.map(({ record, event }) =>
	(event && !needsRecords(group) ? `${event.type.replace(/\..*/s, '')}/${record}` : record));

/** Splits a group, so that what can be read starts without the rest. @param parts the ids of each part */
export function splitGroup(group: Group, parts: string[][]): Group[] {
	return parts.map((ids) => {
		const members = group.members.filter(({ id }) => ids.includes(id));
		return { ...group, name: nameOf(members, [group.name, ids]), members };
	});
}
