import type { CrmEvent } from '../../api/event';
import type { EventLog } from '../eventLog';
import { logEnds, restartAt, type EventCriteria, type Position } from './position';

export interface Resumption {
	position: Position;
	/** Tells the user that events may be missing. */
	notice?: string;
}

/** Where and with what the user wants to begin. */
export interface Beginning {
	criteria: EventCriteria;
	/** Names where to begin: with another name, reading begins anew. */
	start: string;
	/** The instant to begin at (RFC 3339); empty for now. */
	since: string;
	/** Whether all records come first. */
	backfill: boolean;
	/** A name for this beginning, unlike any before. */
	generation: string;
}

/** No service forgets events sooner than this (ms), so a younger position is always good. */
const surelyKept = 24 * 60 * 60_000;

/**
 * Continues from the stored position, or begins: the first time, when the user chose another
 * beginning, or when the credential is for another account.
 *
 * @param newest the newest event of the log
 * @param now Unix epoch milliseconds
 */
export async function resume(
	log: EventLog,
	stored: Position | undefined,
	newest: CrmEvent | undefined,
	beginning: Beginning,
	now: number,
): Promise<Resumption> {
	const { criteria, start, since, backfill, generation } = beginning;
	const account = accountOf(newest) ?? stored?.account ?? '';
	if (!stored || stored.start !== start || ![account, ''].includes(stored.account)) {
		const sequence = await firstSequence(log, since, newest);
		const position: Position = {
			revision: stored?.revision ?? 0,
			generation,
			account,
			start,
			criteria,
			floor: sequence,
			sequence,
			seen: {},
			at: new Date(now).toISOString(),
			open: [],
		};
		if (backfill) position.backfill = { cursor: '' };
		return { position };
	}

	const position: Position = { ...stored, account, criteria };
	if (newest && newest.sequence < stored.sequence) {
		restartAt(position, newest.sequence);
		return { position: { ...position, generation }, notice: logEnds(stored.at) };
	}
	if (JSON.stringify(criteria) !== JSON.stringify(stored.criteria)) {
		position.before = { criteria: stored.criteria, upTo: newest?.sequence ?? stored.sequence };
		position.floor = stored.sequence;
	}
	const notice = await missingEvents(log, stored, newest, now);
	return notice === undefined ? { position } : { position, notice };
}

/** The sequence below the first wanted event. */
async function firstSequence(log: EventLog, since: string, newest: CrmEvent | undefined): Promise<number> {
	const first = since === '' ? undefined : await log.firstSince(since);
	return first ? first.sequence - 1 : (newest?.sequence ?? 0);
}

/** Tells that the log no longer reaches back to the position; undefined where it does. */
async function missingEvents(
	log: EventLog,
	{ at, sequence }: Position,
	newest: CrmEvent | undefined,
	now: number,
): Promise<string | undefined> {
	const hasNews = newest !== undefined && newest.sequence > sequence;
	if (!hasNews || now - Date.parse(at) < surelyKept) return undefined;
	const oldest = await log.end('oldest');
	if (!oldest || oldest.sequence <= sequence + 1) return undefined;
	if (Date.parse(oldest.timestamp) <= Date.parse(at)) return undefined;
	return `Events may be missing: this trigger last read the event log on ${at}, but the service keeps no events from before ${oldest.timestamp}. The trigger continues with the oldest event available. To catch up, choose Records, which returns all records first.`;
}

function accountOf(event: CrmEvent | undefined): string | undefined {
	return typeof event?.account_id === 'string' ? event.account_id : undefined;
}
