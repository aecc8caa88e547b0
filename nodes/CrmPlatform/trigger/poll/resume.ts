import type { CrmEvent } from '../../api/event';
import type { EventLog } from '../eventLog';
import type { Position, PollCriteria } from './position';

export interface Resumed {
	position: Position;
	/** What the user should know: events may be missing. */
	notice?: string;
}

/** No service forgets events that soon, so a position younger than this is always good (ms). */
const surelyKept = 24 * 60 * 60_000;

/**
 * Where reading goes on, or begins: the first time, when the user chose another beginning, or when
 * the credential is one for another account.
 *
 * @param stored where it stopped
 * @param newest the newest event there is
 * @param start the instant to begin at (RFC 3339); from now on if empty
 * @param now Unix epoch milliseconds
 */
export async function resume(
	log: EventLog,
	stored: Position | undefined,
	newest: CrmEvent | undefined,
	wanted: PollCriteria,
	start: string,
	now: number,
): Promise<Resumed> {
	const account = accountOf(newest) ?? stored?.account ?? '';
	if (!stored || stored.start !== start || ![account, ''].includes(stored.account)) {
		const sequence = await beginning(log, start, newest);
		const at = new Date(now).toISOString();
		return { position: { account, start, wanted, floor: sequence, sequence, seen: {}, at } };
	}

	const position: Position = { ...stored, account, wanted };
	if (newest && newest.sequence < stored.sequence) {
		return {
			position: { ...position, floor: newest.sequence, sequence: newest.sequence, seen: {} },
			notice: `Events may be missing: the service’s log ends before the place this trigger had reached on ${stored.at}, as if the service had been reset, or the credential saw less than before. The trigger goes on with what happens from now on.`,
		};
	}
	if (JSON.stringify(wanted) !== JSON.stringify(stored.wanted)) {
		position.before = { wanted: stored.wanted, upTo: newest?.sequence ?? stored.sequence };
		position.floor = stored.sequence;
	}
	const notice = await gap(log, stored, newest, now);
	return notice === undefined ? { position } : { position, notice };
}

/** The sequence below the first event that is wanted. */
async function beginning(
	log: EventLog,
	start: string,
	newest: CrmEvent | undefined,
): Promise<number> {
	const first = start === '' ? undefined : await log.firstSince(start);
	return first ? first.sequence - 1 : (newest?.sequence ?? 0);
}

/** Says that the log no longer goes back to where it was read; undefined where it does. */
async function gap(
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
	return `Events may be missing: this trigger last read the log of events on ${at}, and the service has kept none from before ${oldest.timestamp}. It goes on with the oldest there is. What happened between the two can only be found in the records themselves, such as by their time of change.`;
}

function accountOf(event: CrmEvent | undefined): string | undefined {
	return typeof event?.account_id === 'string' ? event.account_id : undefined;
}
