import type { ITriggerFunctions } from 'n8n-workflow';
import { z } from 'zod';

import { type CrmEvent, matchesEventPattern } from '../../log/crmEvent';
import type { EventLog } from '../../log/eventLog';
import { type EventChoice, eventChoiceSchema, failedFilter } from '../eventFilter';
import { readState } from '../storedState';
import { groupSchema } from './ledger';

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

/** Where the trigger is: from which beginning, for which choices, and how far the event log and the records were read. */
export type Position = z.infer<typeof positionSchema>;

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
