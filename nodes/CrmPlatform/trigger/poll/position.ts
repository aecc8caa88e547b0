import type { ITriggerFunctions } from 'n8n-workflow';
import { z } from 'zod';

import { matchesEventPattern, type CrmEvent } from '../../log/crmEvent';
import { passesFilter } from '../eventFilter';
import { outputShapes } from '../eventOutput';
import { readState } from '../storedState';

const choiceSchema = z.object({
	/** Event types and patterns. */
	events: z.array(z.string()),
	filter: z.object({
		changedFields: z.array(z.string()),
		equal: z.record(z.array(z.string())),
		ignored: z.object({
			keys: z.array(z.object({ instance: z.string(), workflow: z.string().optional() })),
			users: z.array(z.string()),
		}).optional(),
	}),
	shape: z.enum(outputShapes),
});

/** The chosen events, and their output. */
export type Choice = z.infer<typeof choiceSchema>;

const pastChoiceSchema = z.object({
	choice: choiceSchema,
	/** When it was replaced (Unix epoch ms). */
	at: z.number(),
	/** Events up to this sequence happened before it was replaced. */
	upTo: z.number().int(),
	/**
	 * Events above this sequence happened afterwards. Those from `upTo` to this one start if either choice includes them.
	 * Absent while unknown.
	 */
	until: z.number().int().optional(),
	/** Whether the sequences belong to another log, so that only the time of an event decides. */
	byTime: z.boolean().optional(),
});

/** A choice that the user has replaced; earlier events still follow it. */
export type PastChoice = z.infer<typeof pastChoiceSchema>;

const groupSchema = z.object({
	/** The name, which never changes: a part of the key by which n8n deduplicates executions. */
	name: z.string(),
	/** The current or next attempt; the first is 1. */
	attempt: z.number().int(),
	/** Number of executions that n8n ended before their first node: they do not count as attempts. */
	unbegun: z.number().int(),
	/** Whether n8n was asked to start it, so that an existing execution may be this one. */
	isEmitted: z.boolean().optional(),
	/** Whether it consists of events of the log or of records of a backfill. */
	kind: z.enum(['events', 'records']),
	/** The beginning it belongs to. */
	start: z.string(),
	/** Ids of the events or records. */
	ids: z.array(z.string()),
	/** The record that each of `ids` is about: groups that share one are started one after the other. */
	records: z.array(z.string()),
	/** Sequences of the events, in the order of `ids`. */
	sequences: z.array(z.number().int()),
	/** Times of the events, in the order of `ids`: a restored service may assign ids again. */
	timestamps: z.array(z.string()),
	/** Whether its events or records were read before, so that an existing execution means that it is done or open. */
	isReread: z.boolean().optional(),
	/** Types of the events. */
	types: z.array(z.string()),
	/** The output for the events. */
	shape: choiceSchema.shape.shape,
});

/** The input of one execution. */
export type Group = z.infer<typeof groupSchema>;

const backfillSchema = z.object({
	/** The cursor of the next page, empty for the first. */
	cursor: z.string(),
	/** The scope when the backfill began. */
	scope: z.string(),
	/** The newest event when the backfill began, which distinguishes it from an earlier backfill. */
	begun: z.number().int(),
	/** When the last record that was read was created, and the ids of the records that share that instant. */
	last: z.object({ created: z.string(), ids: z.array(z.string()) }).optional(),
	/** The time of that event: records created later have an event that is read. */
	until: z.string().optional(),
	/** When every response includes what happened before the backfill began (Unix epoch ms). */
	ready: z.number(),
	/** Records created up to this instant were read with the earlier scope. */
	reread: z.string().optional(),
	/** The creation time at which the cursor's list begins, after another cursor had expired. */
	from: z.string().optional(),
});

export type Backfill = z.infer<typeof backfillSchema>;

const positionSchema = z.object({
	/** The account that the log belongs to; empty while it is unknown. */
	account: z.string(),
	/** The beginning as the user entered it. */
	start: z.string(),
	/** The instant of the beginning (RFC 3339); empty for the time of the publish. */
	since: z.string(),
	choice: choiceSchema,
	/** Choices that were replaced, the oldest first. */
	past: z.array(pastChoiceSchema),
	/** Events up to this sequence existed before reading began. */
	floor: z.number().int(),
	/** All events up to this sequence were read. */
	sequence: z.number().int(),
	/** The sequences that were read before the user chose another beginning. */
	reread: z.object({ above: z.number().int(), upTo: z.number().int() }).optional(),
	/** The `overlap` newest events that were read: sequence by identity. */
	seen: z.record(z.number().int()),
	/** The newest event of the log when it was last read, of any type. */
	newest: z.object({ identity: z.string(), sequence: z.number().int() }).optional(),
	/** When the log was last read (RFC 3339). */
	at: z.string(),
	/** A backfill in progress. */
	backfill: backfillSchema.optional(),
	/** The filters of the records as the user entered them, and with ids instead of names: a name may change. */
	filters: z.object({ entered: z.string(), query: z.record(z.unknown()) }).optional(),
	/** Groups that were read and are not finished. */
	open: z.array(groupSchema),
});

/** How far the event log was read, and which groups are not finished yet. */
export type Position = z.infer<typeof positionSchema>;

/**
 * Number of sequence numbers that each reading repeats. A service that assigns sequence numbers before it
 * commits may show a lower number after a higher one.
 */
export const overlap = 200;

/** The position that was stored last; undefined if there is none. */
export const storedPosition = (n8n: ITriggerFunctions): Position | undefined => readState(n8n, positionSchema);

/**
 * Maximum lag (ms) of a replica of the log: after this time, every response contains what one response has
 * shown.
 */
export const maxLag = 10_000;

/** Milliseconds for which a choice that was replaced is kept; no service keeps events for longer. */
const maxAge = 100 * 24 * 60 * 60_000;

/** The first sequence to read: above the floor, and `overlap` below the position. */
export function firstSequenceToRead({ floor, sequence }: Position): number {
	return Math.max(floor, sequence - overlap);
}

/** Event types and patterns of all choices that may still match events. */
export function typesToRead({ choice, past }: Position): string[] {
	return [...new Set([choice, ...past.map((pastChoice) => pastChoice.choice)].flatMap(({ events }) => events))].sort();
}

/** The choice that was current when an event happened; undefined if none includes the event. */
export function choiceFor({ since, choice, past }: Position, event: CrmEvent): Choice | undefined {
	if (Date.parse(event.timestamp) < Date.parse(since)) return undefined;
	for (const { choice: pastChoice, at, upTo, until = Infinity, byTime } of past) {
		const isBefore = Date.parse(event.timestamp) <= at + maxLag;
		const isEarlier = byTime ? isBefore : event.sequence <= upTo;
		if (!isEarlier && (event.sequence > until || !isBefore)) continue;
		if (isChosen(pastChoice, event)) return pastChoice;
		if (isEarlier) return undefined;
	}
	return isChosen(choice, event) ? choice : undefined;
}

const isChosen = ({ events, filter }: Choice, event: CrmEvent): boolean =>
	events.some((pattern) => matchesEventPattern(pattern, event.type)) && passesFilter(event, filter);

/**
 * Moves the position past events that were read.
 *
 * @param read sequence by identity
 * @param upTo the sequence up to which no event was left out
 * @param now Unix epoch milliseconds
 */
export function advance(position: Position, read: Record<string, number>, upTo: number, now: number): void {
	position.sequence = Math.max(position.sequence, upTo);
	const seen = Object.entries({ ...position.seen, ...read });
	const oldest = position.sequence - overlap;
	position.seen = Object.fromEntries(seen.filter(([, sequence]) => sequence > oldest));
	position.past = position.past.filter(({ until = Infinity, at }) => until > oldest && now - at < maxAge);
	position.at = new Date(now).toISOString();
}

/** Continues after this sequence. Events already read are still recognized by identity. */
export function restartAt(position: Position, sequence: number): void {
	const seen = Object.fromEntries(Object.keys(position.seen).map((identity) => [identity, sequence]));
	Object.assign(position, { floor: sequence, sequence, seen });
	forgetLog(position);
}

/** Forgets all sequences, because another log has replaced this one. */
export function forgetLog(position: Position): void {
	position.newest = undefined;
	position.past = position.past.map(({ choice, at, upTo }) => ({ choice, at, upTo, byTime: true }));
}
