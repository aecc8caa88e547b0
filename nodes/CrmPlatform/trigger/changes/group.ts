import { createHash } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import type { CrmEvent } from '../../api/event';
import type { Choice, Group, Position } from './position';

/**
 * Names depend on nothing that is stored: whoever reads the same events again, from an older position,
 * gives them the same names, and n8n starts nothing twice. The time is part of it because a service that
 * was reset may give ids again.
 */
export function groupOfEvents(events: CrmEvent[], start: string, shape: Choice['shape']): Group {
	const identities = events.map(({ account_id, id, timestamp }) => [account_id, id, timestamp]);
	return {
		name: nameOf('events', events[0]!.id, [start, identities]),
		attempt: 1,
		unbegun: 0,
		kind: 'events',
		start,
		ids: events.map(({ id }) => id),
		records: events.map(({ data }) => String(data.object.id)),
		sequences: events.map(({ sequence }) => sequence),
		types: [...new Set(events.map(({ type }) => type))],
		shape,
	};
}

export function groupOfRecords(records: IDataObject[], { account, start, choice }: Position, begun: number): Group {
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
		types: [],
		shape: choice.shape,
	};
}

function nameOf(kind: Group['kind'], first: string, identity: unknown): string {
	const hash = createHash('sha256').update(JSON.stringify(identity)).digest('base64url').slice(0, 22);
	return `${kind}:${first.slice(0, 64)}:${hash}`;
}

/**
 * The groups that a group becomes when some of its events cannot be read: the others go on without them.
 *
 * @param parts the ids of each group after the first
 */
export function splitOff(group: Group, ids: string[], parts: string[][]): Group[] {
	return [ids, ...parts].map((some) => ({
		...group,
		name: nameOf(group.kind, some[0]!, [group.name, some]),
		ids: some,
		records: group.records.filter((_, i) => some.includes(group.ids[i]!)),
		sequences: group.sequences.filter((_, i) => some.includes(group.ids[i]!)),
	}));
}
