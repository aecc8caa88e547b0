import type { ITriggerFunctions } from 'n8n-workflow';
import { z } from 'zod';

import { matchesEventPattern, type CrmEvent } from '../../api/event';
import { passesFilter, type EventFilter } from '../eventFilter';

/** Which events the user chose. */
export interface EventCriteria {
	/** Types and patterns. */
	events: string[];
	filter: EventFilter;
}

/** What one execution is started with. */
export interface Group {
	/** Names the group for good: part of the key that n8n deduplicates executions by. */
	name: string;
	/** The attempt that is under way, or the next one; the first is 1. */
	attempt: number;
	/** Events of the log, or records of a backfill. */
	kind: 'events' | 'records';
	/** Ids of the events or records. */
	ids: string[];
	/** Ids of the records they are about: groups that share one are started one after the other. */
	records: string[];
	/** One below the lowest sequence of the events. */
	after: number;
}

/** How far the log of events was read, and which groups are not finished yet. */
export interface Position {
	/** Counts how often this was stored: of two copies, the higher one is newer. */
	revision: number;
	/** Tells apart the beginnings, so that beginning anew starts executions anew. */
	generation: string;
	/** The account whose log it is; empty while that is not known. */
	account: string;
	/** Names where the user wanted to begin. */
	start: string;
	criteria: EventCriteria;
	/** Criteria that applied before the last change, and the sequence up to which they still apply. */
	before?: { criteria: EventCriteria; upTo: number } | undefined;
	/** Events at or below this sequence were there before reading began. */
	floor: number;
	/** All events up to this sequence were read. */
	sequence: number;
	/** The `overlap` newest events that were read: sequence by id. */
	seen: Record<string, number>;
	/** When the log was last read (RFC 3339). */
	at: string;
	/** A backfill in progress: the cursor of the next page, empty for the first. */
	backfill?: { cursor: string } | undefined;
	/** Groups that were read and are not finished. */
	open: Group[];
}

/**
 * So many sequence numbers are read again each time. A service that assigns sequence numbers before
 * it commits may show a lower number after a higher one.
 */
export const overlap = 200;

const criteria = z.object({
	events: z.array(z.string()),
	filter: z.object({
		changedFields: z.array(z.string()),
		equal: z.record(z.array(z.string())),
		ignored: z.object({ keys: z.array(z.object({ instance: z.string(), workflow: z.string().optional() })), users: z.array(z.string()) }).optional(),
	}),
});

const group = z.object({
	name: z.string(),
	attempt: z.number().int(),
	kind: z.enum(['events', 'records']),
	ids: z.array(z.string()),
	records: z.array(z.string()),
	after: z.number().int(),
});

const schema: z.ZodType<Position> = z.object({
	revision: z.number().int(),
	generation: z.string(),
	account: z.string(),
	start: z.string(),
	criteria,
	before: z.object({ criteria, upTo: z.number().int() }).optional(),
	floor: z.number().int(),
	sequence: z.number().int(),
	seen: z.record(z.number().int()),
	at: z.string(),
	backfill: z.object({ cursor: z.string() }).optional(),
	open: z.array(group),
});

/** By the node's id: n8n's own place for a node goes by its name, which a rename changes. */
const placeOf = (n8n: ITriggerFunctions) => `crmPlatformPollTrigger:${n8n.getNode().id}`;

/** A copied workflow carries the original's static data, but not its id. */
const owned = z.object({ workflow: z.string(), position: schema });

/** The stored position; undefined if there is none. */
export function storedPosition(n8n: ITriggerFunctions): Position | undefined {
	const stored: unknown = n8n.getWorkflowStaticData('global')[placeOf(n8n)];
	const parsed = owned.safeParse(JSON.parse(JSON.stringify(stored ?? null))).data;
	return parsed?.workflow === String(n8n.getWorkflow().id) ? parsed.position : undefined;
}

/** Puts the position where n8n stores it: with the next `emit`, and after activation. */
export function storePosition(n8n: ITriggerFunctions, position: Position): void {
	position.revision += 1;
	const copy = structuredClone(position);
	const workflow = String(n8n.getWorkflow().id);
	n8n.getWorkflowStaticData('global')[placeOf(n8n)] = { workflow, position: { ...copy } };
}

/** Where to read on: above the floor, and `overlap` below the position. */
export function firstSequenceToRead({ floor, sequence }: Position): number {
	return Math.max(floor, sequence - overlap);
}

/** Whether the user wants an event, and wanted it when it happened. */
export function matchesCriteria({ criteria: now, before }: Position, event: CrmEvent): boolean {
	if (!passesFilter(event, now.filter)) return false;
	if (before === undefined || event.sequence > before.upTo) return true;
	const { events, filter } = before.criteria;
	return events.some((pattern) => matchesEventPattern(pattern, event.type)) && passesFilter(event, filter);
}

/**
 * Moves the position past events that were read.
 *
 * @param read sequence by id
 * @param upTo the sequence up to which no event was left out
 * @param now Unix epoch milliseconds
 */
export function advance(position: Position, read: Record<string, number>, upTo: number, now: number): void {
	position.sequence = Math.max(position.sequence, upTo);
	const seen = Object.entries({ ...position.seen, ...read });
	const oldest = position.sequence - overlap;
	position.seen = Object.fromEntries(seen.filter(([, sequence]) => sequence > oldest));
	position.at = new Date(now).toISOString();
}

/** Goes on with what happens from now on, since the log ends before the position. */
export function restartAt(position: Position, sequence: number): void {
	Object.assign(position, { floor: sequence, sequence, seen: {} });
}

export const logEnds = (at: string): string =>
	`Events may be missing: the event log ends before the position this trigger reached on ${at}. The service may have been reset, or the credential may see less than before. The trigger continues with new events.`;
