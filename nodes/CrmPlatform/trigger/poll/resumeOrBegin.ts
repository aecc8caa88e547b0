import { inParallel } from '../../api/inParallel';
import type { EventLog, Newest } from '../../log/eventLog';
import { isStartedByN8n, sendReport } from '../triggerContext';
import { existenceOf } from './n8nExecutions';
import type { PollSettings, PublishedTrigger } from './pollSettings';
import type { EventChoice } from '../eventFilter';
import { beginningWithRecords, groupOfEvents } from './ledger';
import { type Backfill, latestChosen, maxLag, type Position } from './position';

/** Where to begin, and with which events or records, as the user entered it. */
interface Entered extends Pick<Position, 'choice' | 'beginning' | 'since' | 'filters'> {
	/** Distinguishes the scope of the records from others; absent for events. */
	scopeIdentity?: string;
}

/** Maximum number of events that a replica hides. */
const maxHidden = 200;

/** Every service keeps events at least this long (ms), so a younger position is always valid. */
const minRetention = 24 * 60 * 60_000;

/** Continues from the stored position, or begins: the first time, at another beginning, or for another account. Reports what may be missing. */
export async function resumeOrBegin(trigger: PublishedTrigger, log: EventLog, stored: Position | undefined): Promise<Position> {
	const { n8n, clock, settings } = trigger;
	// After a restart, nobody has published anything meanwhile.
	const isRestart = isStartedByN8n(n8n);
	const entered = enteredIn(settings);
	const newest = await log.newest();
	// An empty log does not tell its account.
	const account = newest?.account || (stored?.account ?? '');
	const isSameAccount = stored !== undefined && [account, ''].includes(stored.account);
	if (isSameAccount && stored.beginning === entered.beginning) {
		await reportMissing(trigger, log, stored, newest);
		const { choice, scopeIdentity, filters } = entered;
		const backfill = stored.backfill && resumeBackfill(stored.backfill, scopeIdentity, isRestart);
		return { ...stored, account, choice, filters, replaced: replacedChoices(stored, newest, choice, isRestart), backfill };
	}
	// Only a publish changes the beginning. Otherwise, the position was lost, or is older than the last publish.
	const isLost = isRestart && stored?.beginning !== entered.beginning;
	const position = await begin(log, newest, entered, { account, now: clock.now(), earlier: stored?.at ?? '', isLost });
	// Only a first publish has read nothing before.
	if (stored || isRestart) position.readBefore = newest?.sequence ?? 0;
	if (isSameAccount) position.readBefore = Math.max(position.readBefore, stored.sequence, stored.readBefore);
	return isLost ? await recover(trigger, log, position) : position;
}

function enteredIn({ events: { events, filter }, scope, beginning, since }: PollSettings): Entered {
	const choice = { events, filter };
	// Switching to other records, or to events, starts over.
	if (!scope) return { choice, beginning, since };
	const { path, filters } = scope;
	return { choice, beginning: beginningWithRecords(path), since: '', scopeIdentity: JSON.stringify([path, filters.queries]), filters };
}

/** Events up to the newest one still follow the choice that was stored. */
function replacedChoices(stored: Position, newest: Newest | undefined, choice: EventChoice, isRestart: boolean): Position['replaced'] {
	if (JSON.stringify(choice) === JSON.stringify(stored.choice)) return stored.replaced;
	const lastPossiblyBefore = Math.max(newest?.sequence ?? 0, stored.sequence);
	// After a restart, the choice differs only if the position is older than it; then both choices count.
	const lastBefore = isRestart ? stored.sequence : lastPossiblyBefore;
	return [...stored.replaced, { choice: stored.choice, lastBefore, lastPossiblyBefore }];
}

/** A new scope may include skipped records, so that all are read again. */
function resumeBackfill(backfill: Backfill, scopeIdentity: string | undefined, isRestart: boolean): Backfill {
	if (scopeIdentity === undefined || backfill.scopeIdentity === scopeIdentity) return backfill;
	// After a restart, the position is older than the publish, so it is unknown which of them were started.
	return { ...backfill, scopeIdentity, last: undefined, isReread: !isRestart };
}

/** A position that starts every event above its floor; `earlier` is when the position before was last read. */
async function begin(
	log: EventLog, newest: Newest | undefined, { scopeIdentity, ...entered }: Entered,
	{ account, now, earlier, isLost }: { account: string; now: number; earlier: string; isLost: boolean },
): Promise<Position> {
	const sequence = await floorOf(log, newest, entered.since);
	// Before, the list of records may lag and omit changes before the first event that is read.
	const ready = newest ? Math.min(now, Date.parse(newest.timestamp)) + maxLag : now;
	return {
		...entered,
		account,
		replaced: [],
		sequence,
		readBefore: 0,
		newest,
		at: new Date(now).toISOString(),
		...(scopeIdentity !== undefined && { backfill: { scopeIdentity, begun: `${sequence} ${earlier}`, until: newest?.timestamp, ready, isReread: isLost } }),
	};
}

/** The sequence above which events start executions. */
async function floorOf(log: EventLog, newest: Newest | undefined, since: string): Promise<number> {
	const end = newest?.sequence ?? 0;
	if (since === '') return end;
	const first = await log.firstSince(since);
	// A replica that lags may not show the first event since the date yet.
	return first ? first.sequence - 1 : Math.max(0, end - maxHidden);
}

/** Tells the user if the log no longer reaches back to the position. */
async function reportMissing({ n8n, clock }: PublishedTrigger, log: EventLog, { at, sequence }: Position, newest: Newest | undefined): Promise<void> {
	if (!newest || newest.sequence <= sequence || clock.now() - Date.parse(at) < minRetention) return;
	const oldest = await log.oldest();
	if (!oldest || oldest.sequence <= sequence + 1 || Date.parse(oldest.timestamp) <= Date.parse(at)) return;
	const message = `Events may be missing: this trigger last read the event log on ${at}, but the CRM keeps no events from before ${oldest.timestamp}. The trigger continues with the oldest event available. To catch up, choose Records, which returns all records first.`;
	sendReport(n8n, { message });
}

/** Has a trigger that has lost its position continue with the latest events that have executions, or else start over. */
async function recover(trigger: PublishedTrigger, log: EventLog, position: Position): Promise<Position> {
	const { n8n, settings } = trigger;
	const sequence = settings.groupSize > 1 ? undefined : await oldestWithExecution(trigger, log, position);
	if (sequence === undefined || (position.since !== '' && sequence <= position.sequence)) {
		sendReport(n8n, { message: startOverMessage(position) });
		return position;
	}
	sendReport(n8n, { message: recoveryMessage(sequence) });
	// Events without an execution are read again; n8n knows what it has started.
	return { ...position, sequence, since: '', backfill: undefined };
}

/** Maximum number of events to ask n8n for. */
const maxAsked = 200;

/** The sequence of the oldest of the latest events that has started the workflow, as n8n knows; undefined if none has. */
async function oldestWithExecution(trigger: PublishedTrigger, log: EventLog, position: Position): Promise<number | undefined> {
	const latest = await latestChosen(log, position.choice, maxAsked);
	const exist = await inParallel(latest, async (event) => await existenceOf(trigger, groupOfEvents([event], position)));
	return latest.findLast((_, i) => exist[i] === 'yes')?.sequence;
}

const lossMessage =
	'The position of this trigger was lost, for instance because another node of the workflow has overwritten its static data. Events that only an earlier choice of events includes may be missing.';

const recoveryMessage = (sequence: number): string =>
	`${lossMessage} It was restored from the executions of the latest events, and the trigger continues there. Events up to sequence ${sequence} that had not started the workflow, and events whose execution had failed or was interrupted, may be missing.`;

const startOverMessage = ({ sequence, since }: Position): string =>
	`Events may be missing. ${lossMessage} The trigger starts over as set in Start From, with the events after sequence ${sequence}${since === '' ? '' : `, since ${since}`}. Those that had an execution, even a failed one, may be left out.`;
