import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import { sha256 } from '../../base/digest';
import { idText } from '../../base/json';
import type { CrmEvent } from '../../log/crmEvent';

export const groupSchema = z.object({
	/** The name, which never changes: a part of the key by which n8n deduplicates executions. */
	name: z.string(),
	/** The current or next attempt; the first is 1. */
	attempt: z.number().int(),
	/** Number of executions that n8n ended before their first node: they do not count as attempts. */
	unbegun: z.number().int(),
	/** Which execution with its key n8n may have: of an earlier reading of the group, or the one it was asked to start. Absent if none. */
	possibleExecution: z.enum(['ofEarlierReading', 'ofStart']).optional(),
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
