import type { IPollFunctions } from 'n8n-workflow';
import { z } from 'zod';

import type { CrmEvent } from '../api/event';
import { passes, type EventFilter } from './eventFilter';

/** Which events the user chose. */
export interface Wanted {
	/** Types and patterns. */
	events: string[];
	filter: EventFilter;
}

/** How far the log of events was read. */
export interface Position {
	/** The account whose log it is; empty while that is not known. */
	account: string;
	/** Where the user wanted to begin: an instant (RFC 3339), or empty for the first activation. */
	start: string;
	wanted: Wanted;
	/** What was wanted before holds for the events up to a sequence. */
	before?: { wanted: Wanted; upTo: number } | undefined;
	/** Nothing at or below this sequence is wanted: it was there before the reading began. */
	floor: number;
	/** Everything up to this sequence was read. */
	sequence: number;
	/** The events read of late, by id, with their sequence: `overlap` of the newest. */
	seen: Record<string, number>;
	/** When the log was last read (RFC 3339). */
	at: string;
}

/**
 * So many sequence numbers are read again each time. A service that counts events before it commits
 * them may show a lower number after a higher one.
 */
export const overlap = 200;

const wanted = z.object({
	events: z.array(z.string()),
	filter: z.object({
		changedFields: z.array(z.string()),
		equal: z.record(z.array(z.string())),
	}),
});

const schema: z.ZodType<Position> = z.object({
	account: z.string(),
	start: z.string(),
	wanted,
	before: z.object({ wanted, upTo: z.number().int() }).optional(),
	floor: z.number().int(),
	sequence: z.number().int(),
	seen: z.record(z.number().int()),
	at: z.string(),
});

/**
 * Where n8n keeps the position. It has two places: the node's own goes by the node's name and is
 * lost when that changes, the workflow's stays. The node's own comes first, since n8n may keep it
 * with more care (together with the execution it starts).
 */
function places(n8n: IPollFunctions) {
	const own = n8n.getWorkflowStaticData('node');
	const shared = n8n.getWorkflowStaticData('global');
	return { all: [own, shared], key: `crmPlatformPollTrigger:${n8n.getNode().id}` };
}

/** The position as it was stored last; undefined if there is none. */
export function storedPosition(n8n: IPollFunctions): Position | undefined {
	const { all, key } = places(n8n);
	return all.map((place) => schema.safeParse(place[key]).data).find(Boolean);
}

/** n8n writes it down when the poll's items start an execution. */
export function storePosition(n8n: IPollFunctions, position: Position): void {
	const { all, key } = places(n8n);
	for (const place of all) place[key] = { ...position };
}

/** Where to read on: behind the floor, and `overlap` before the position. */
export function readFrom({ floor, sequence }: Position): number {
	return Math.max(floor, sequence - overlap);
}

/** Whether the user wants an event, and wanted it when it happened. */
export function isWanted({ wanted, before }: Position, event: CrmEvent): boolean {
	if (!passes(event, wanted.filter)) return false;
	if (before === undefined || event.sequence > before.upTo) return true;
	const { events, filter } = before.wanted;
	return events.some((pattern) => covers(pattern, event.type)) && passes(event, filter);
}

const covers = (pattern: string, type: string): boolean =>
	pattern.endsWith('*') ? type.startsWith(pattern.slice(0, -1)) : type === pattern;

/**
 * The position after a reading.
 *
 * @param read the events it gave, by id, with their sequence
 * @param upTo the sequence up to which none was left out
 * @param now Unix epoch milliseconds
 */
export function advanced(
	position: Position,
	read: Record<string, number>,
	upTo: number,
	now: number,
): Position {
	const sequence = Math.max(position.sequence, upTo);
	const seen = Object.entries({ ...position.seen, ...read });
	return {
		...position,
		sequence,
		seen: Object.fromEntries(seen.filter(([, one]) => one > sequence - overlap)),
		at: new Date(now).toISOString(),
	};
}
