import type { EventLog, Newest } from '../../log/eventLog';
import { maxLag, type Choice, type Position } from './position';

export interface Resumption {
	position: Position;
	/** Tells the user that events may be missing. */
	notice?: string;
}

/** Where to begin, and with which events or records. */
export interface Beginning {
	choice: Choice;
	/** The beginning as the user entered it: if the user enters another one, reading starts over. */
	start: string;
	/** The instant to begin at (RFC 3339); empty for now. */
	since: string;
	/** The scope of the records to begin with; absent for events. */
	scope?: string | undefined;
	filters?: Position['filters'];
}

/** The circumstances in which n8n started the trigger. */
interface Activation {
	/** Whether n8n restarted it, so that nobody has published anything meanwhile. */
	isRestart: boolean;
	/** Unix epoch milliseconds. */
	now: number;
}

/** Maximum number of events that a replica hides. */
const maxHidden = 200;

/** Every service keeps events at least this long (ms), so a younger position is always valid. */
const minRetention = 24 * 60 * 60_000;

/**
 * Continues from the stored position, or begins: the first time, when the user chose another
 * beginning, or when the credential is for another account.
 *
 * @param newest the newest event of the log
 */
export async function resume(
	log: EventLog,
	stored: Position | undefined,
	newest: Newest | undefined,
	beginning: Beginning,
	{ isRestart, now }: Activation,
): Promise<Resumption> {
	const { choice, start, scope, filters } = beginning;
	const account = newest?.account || (stored?.account ?? '');
	if (!stored || stored.start !== start || ![account, ''].includes(stored.account)) {
		const position = await begin(log, newest, beginning, account, now);
		// Groups read but not finished belong to the earlier choice.
		if (stored) position.open = stored.open;
		if (stored && [account, ''].includes(stored.account)) position.reread = readBefore(stored);
		return { position };
	}

	const position: Position = { ...stored, account, choice, filters };
	if (JSON.stringify(choice) !== JSON.stringify(stored.choice)) {
		const lastPossiblyBefore = Math.max(newest?.sequence ?? 0, stored.sequence);
		// After a restart, the choice differs only if the position is older than it; then both choices count.
		const lastBefore = isRestart ? stored.sequence : lastPossiblyBefore;
		position.replaced = [...stored.replaced, { choice: stored.choice, lastBefore, lastPossiblyBefore }];
	}
	const { backfill } = stored;
	if (backfill && scope !== undefined && backfill.scope !== scope) {
		// The new scope may include skipped records. After a restart, the position is older than the publish, so it is unknown
		// which of them were started.
		const reread = isRestart ? undefined : (backfill.last?.created ?? backfill.reread);
		const { begun, until, ready } = backfill;
		position.backfill = { cursor: '', scope, begun, until, ready, reread };
	}
	const notice = await missingEvents(log, stored, newest, now);
	return notice === undefined ? { position } : { position, notice };
}

/** The sequences read so far, including those between two beginnings, for which n8n has no executions. */
function readBefore({ begun, sequence, reread = { above: begun, upTo: sequence } }: Position): Position['reread'] {
	return { above: Math.min(begun, reread.above), upTo: Math.max(sequence, reread.upTo) };
}

/** A position that starts every event above its floor. */
async function begin(
	log: EventLog,
	newest: Newest | undefined,
	{ choice, start, since, scope, filters }: Beginning,
	account: string,
	now: number,
): Promise<Position> {
	const first = since === '' ? undefined : await log.firstSince(since);
	const end = newest?.sequence ?? 0;
	// A replica that lags may not show the first event since the date yet.
	const sequence = first ? first.sequence - 1 : since === '' ? end : Math.max(0, end - maxHidden);
	return {
		account,
		start,
		since,
		choice,
		filters,
		replaced: [],
		begun: sequence,
		sequence,
		reread: undefined,
		...(newest && { newest: { identity: newest.identity, sequence: newest.sequence, timestamp: newest.timestamp } }),
		at: new Date(now).toISOString(),
		...(scope !== undefined && { backfill: { cursor: '', scope, begun: sequence, until: newest?.timestamp, ready: readyAfter(newest, now) } }),
		open: [],
	};
}

/** When the list of records may be read (Unix epoch ms): before, it may lag and omit changes before the first event that is read. */
const readyAfter = (newest: Newest | undefined, now: number): number =>
	newest ? Math.min(now, Date.parse(newest.timestamp)) + maxLag : now;

/** A notice if the log no longer reaches back to the position; otherwise undefined. */
async function missingEvents(
	log: EventLog,
	{ at, sequence }: Position,
	newest: Newest | undefined,
	now: number,
): Promise<string | undefined> {
	const hasNews = newest !== undefined && newest.sequence > sequence;
	if (!hasNews || now - Date.parse(at) < minRetention) return undefined;
	const oldest = await log.oldest();
	if (!oldest || oldest.sequence <= sequence + 1) return undefined;
	if (Date.parse(oldest.timestamp) <= Date.parse(at)) return undefined;
	return `Events may be missing: this trigger last read the event log on ${at}, but the CRM keeps no events from before ${oldest.timestamp}. The trigger continues with the oldest event available. To catch up, choose Records, which returns all records first.`;
}
