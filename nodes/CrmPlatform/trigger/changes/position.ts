import type { ITriggerFunctions } from 'n8n-workflow';
import { z } from 'zod';

import { matchesEventPattern, type CrmEvent } from '../../api/crmEvent';
import { passesFilter, type EventFilter } from '../eventFilter';
import { outputShapes, type EventOutput } from '../eventOutput';
import { readState } from '../storedState';

/** The chosen events, and their output. */
export interface Choice {
	/** Event types and patterns. */
	events: string[];
	filter: EventFilter;
	shape: EventOutput['shape'];
}

/** A choice that the user has replaced; earlier events still follow it. */
export interface PastChoice {
	choice: Choice;
	/** When it was replaced (Unix epoch ms). */
	at: number;
	/** Events up to this sequence happened before it was replaced. */
	upTo: number;
	/** Events above this sequence happened afterwards; in between, either choice counts. Absent while unknown. */
	until?: number | undefined;
	/** Whether the sequences belong to another log, so that only the time of an event decides. */
	byTime?: boolean | undefined;
}

/** The input of one execution. */
export interface Group {
	/** The name, which never changes: a part of the key by which n8n deduplicates executions. */
	name: string;
	/** The current or next attempt; the first is 1. */
	attempt: number;
	/** Number of executions that n8n ended before their first node: they do not count as attempts. */
	unbegun: number;
	/** Whether n8n was asked to start it, so that an existing execution may be this one. */
	isEmitted?: boolean | undefined;
	/** Whether it consists of events of the log or of records of a backfill. */
	kind: 'events' | 'records';
	/** The beginning it belongs to. */
	start: string;
	/** Ids of the events or records. */
	ids: string[];
	/** The record that each of `ids` is about: groups that share one are started one after the other. */
	records: string[];
	/** Sequences of the events, in the order of `ids`. */
	sequences: number[];
	/** Times of the events, in the order of `ids`: a restored service may assign ids again. */
	timestamps: string[];
	/** Whether its events or records were read before, so that an existing execution means that it is done or open. */
	isReread?: boolean | undefined;
	/** Types of the events. */
	types: string[];
	/** The output for the events. */
	shape: Choice['shape'];
}

/** How far the event log was read, and which groups are not finished yet. */
export interface Position {
	/** The account that the log belongs to; empty while it is unknown. */
	account: string;
	/** The beginning as the user entered it. */
	start: string;
	/** The instant of the beginning (RFC 3339); empty for the time of the publish. */
	since: string;
	choice: Choice;
	/** Choices that were replaced, the oldest first. */
	past: PastChoice[];
	/** Events up to this sequence existed before reading began. */
	floor: number;
	/** All events up to this sequence were read. */
	sequence: number;
	/** The sequences that were read before the user chose another beginning. */
	reread?: { above: number; upTo: number } | undefined;
	/** The `overlap` newest events that were read: sequence by identity. */
	seen: Record<string, number>;
	/** The newest event of the log when it was last read, of any type. */
	newest?: { identity: string; sequence: number } | undefined;
	/** When the log was last read (RFC 3339). */
	at: string;
	/** A backfill in progress. */
	backfill?: Backfill | undefined;
	/** Groups that were read and are not finished. */
	open: Group[];
}

export interface Backfill {
	/** The cursor of the next page, empty for the first. */
	cursor: string;
	/** The scope when the backfill began. */
	scope: string;
	/** The newest event when the backfill began, which distinguishes it from an earlier backfill. */
	begun: number;
	/** When the last record that was read was created, and the ids of the records that share that instant. */
	last?: { created: string; ids: string[] } | undefined;
	/** When every response includes what happened before the backfill began (Unix epoch ms). */
	ready: number;
	/** Records created up to this instant were read with the earlier scope. */
	reread?: string | undefined;
	/** The creation time at which the cursor's list begins, after another cursor had expired. */
	from?: string | undefined;
}

/**
 * Number of sequence numbers that each reading repeats. A service that assigns sequence numbers before it
 * commits may show a lower number after a higher one.
 */
export const overlap = 200;

const choice = z.object({
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

const group = z.object({
	name: z.string(),
	attempt: z.number().int(),
	unbegun: z.number().int(),
	isEmitted: z.boolean().optional(),
	kind: z.enum(['events', 'records']),
	start: z.string(),
	ids: z.array(z.string()),
	records: z.array(z.string()),
	sequences: z.array(z.number().int()),
	timestamps: z.array(z.string()),
	isReread: z.boolean().optional(),
	types: z.array(z.string()),
	shape: choice.shape.shape,
});

const backfill = z.object({
	cursor: z.string(),
	scope: z.string(),
	begun: z.number().int(),
	last: z.object({ created: z.string(), ids: z.array(z.string()) }).optional(),
	ready: z.number(),
	reread: z.string().optional(),
	from: z.string().optional(),
});

const schema: z.ZodType<Position> = z.object({
	account: z.string(),
	start: z.string(),
	since: z.string(),
	choice,
	past: z.array(z.object({
		choice,
		at: z.number(),
		upTo: z.number().int(),
		until: z.number().int().optional(),
		byTime: z.boolean().optional(),
	})),
	floor: z.number().int(),
	sequence: z.number().int(),
	reread: z.object({ above: z.number().int(), upTo: z.number().int() }).optional(),
	seen: z.record(z.number().int()),
	newest: z.object({ identity: z.string(), sequence: z.number().int() }).optional(),
	at: z.string(),
	backfill: backfill.optional(),
	open: z.array(group),
});

/** The position that was stored last; undefined if there is none. */
export const storedPosition = (n8n: ITriggerFunctions): Position | undefined => readState(n8n, schema);

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
export function typesToRead({ choice: currentChoice, past }: Position): string[] {
	return [...new Set([currentChoice, ...past.map((pastChoice) => pastChoice.choice)].flatMap(({ events }) => events))].sort();
}

/** The choice that was current when an event happened; undefined if none includes the event. */
export function choiceFor({ since, choice: currentChoice, past }: Position, event: CrmEvent): Choice | undefined {
	if (Date.parse(event.timestamp) < Date.parse(since)) return undefined;
	for (const { choice: pastChoice, at, upTo, until = Infinity, byTime } of past) {
		const isBefore = Date.parse(event.timestamp) <= at + maxLag;
		const isEarlier = byTime ? isBefore : event.sequence <= upTo;
		if (!isEarlier && (event.sequence > until || !isBefore)) continue;
		if (isChosen(pastChoice, event)) return pastChoice;
		if (isEarlier) return undefined;
	}
	return isChosen(currentChoice, event) ? currentChoice : undefined;
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
