import type { IDataObject } from 'n8n-workflow';

import { sha256 } from '../../base/digest';
import type { CrmEvent } from '../../log/crmEvent';
import { eventIdentity } from '../../log/eventLog';
import type { Choice, Group, Position } from './position';

/**
 * The name of a group depends only on the events, so that reading them again, from an older position or another beginning,
 * gives the same name and n8n starts nothing twice. It includes the time because a reset service may reuse ids.
 */
export function groupOfEvents(events: CrmEvent[], { start, reread }: Pick<Position, 'start' | 'reread'>, shape: Choice['shape']): Group {
	const identities = events.map(({ account_id, id, timestamp }) => [account_id, id, timestamp]);
	const isReread = ({ sequence }: CrmEvent) => reread !== undefined && sequence > reread.above && sequence <= reread.upTo;
	return {
		name: nameOf('events', events[0]!.id, identities),
		attempt: 1,
		unbegun: 0,
		kind: 'events',
		start,
		ids: events.map(({ id }) => id),
		records: events.map(({ data }) => String(data.object.id)),
		sequences: events.map(({ sequence }) => sequence),
		timestamps: events.map(({ timestamp }) => timestamp),
		isReread: events.every(isReread),
		types: [...new Set(events.map(({ type }) => type))],
		shape,
	};
}

/** @param isReread whether all of these records were read before */
export function groupOfRecords(records: IDataObject[], { account, start, choice }: Position, begun: number, isReread: boolean): Group {
	const ids = records.map(({ id }) => String(id));
	return {
		name: nameOf('records', ids[0]!, [start, account, begun, ids]),
		attempt: 1,
		unbegun: 0,
		kind: 'records',
		start,
		ids,
		records: ids,
		sequences: [],
		timestamps: [],
		isReread,
		types: [],
		shape: choice.shape,
	};
}

/** The identities of the events of a group; a group of records has none. */
export const identitiesOf = ({ ids, timestamps }: Group): string[] =>
	timestamps.map((timestamp, i) => eventIdentity({ id: ids[i]!, timestamp }));

function nameOf(kind: Group['kind'], first: string, identity: unknown): string {
	const hash = sha256(JSON.stringify(identity), 'base64url').slice(0, 22);
	return `${kind}:${first.slice(0, 64)}:${hash}`;
}

/**
 * Splits a group with unreadable events, so that the others can start without them.
 *
 * @param parts the ids of each group after the first
 */
export function splitOff(group: Group, ids: string[], parts: string[][]): Group[] {
	return [ids, ...parts].map((partIds) => ({
		...group,
		name: nameOf(group.kind, partIds[0]!, [group.name, partIds]),
		ids: partIds,
		records: group.records.filter((_, i) => partIds.includes(group.ids[i]!)),
		sequences: group.sequences.filter((_, i) => partIds.includes(group.ids[i]!)),
		timestamps: group.timestamps.filter((_, i) => partIds.includes(group.ids[i]!)),
	}));
}
