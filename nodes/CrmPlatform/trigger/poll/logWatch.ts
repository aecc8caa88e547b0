import type { CrmEvent } from '../../log/crmEvent';
import { unshared, eventIdentity, type EventLog, type Share } from '../../log/eventLog';
import { maxLag, restartAt, type Position } from './position';

interface Mark {
	identity: string;
	sequence: number;
}

/** The newest event, and when it was requested (Unix epoch ms). */
export interface Look<Newest extends Mark = Mark> {
	newest: Newest | undefined;
	at: number;
}

/** Maximum milliseconds between the assignment of a sequence number and its commit: a later number may appear first. */
const maxCommitTime = 20_000;

/** Milliseconds after which the node accepts that the log ends before the position. */
const maxDoubtTime = 60_000;

/**
 * Decides whether there is news, whether a shorter log is a lagging replica or has lost events, and whether
 * another log has replaced it.
 */
export class LogWatch {
	/** The newest event that was shown, and when it was first shown. */
	private latestMark: (Mark & { since: number }) | undefined;
	/** Milliseconds between the first look that showed the newest event and the last reading of the log. */
	private readAge: number | undefined;
	/** The newest event below which nothing can be new. */
	private settled: Mark | undefined;
	/** The sequence up to which every response is complete. */
	private completeUpTo = 0;
	/** When it became doubtful whether the log is the same (Unix epoch ms). */
	private unsureSince: number | undefined;
	/** The first look at which the log ended before the position. */
	private shortLook: { at: number; sequence: number } | undefined;

	private readonly log: Pick<EventLog, 'after'>;

	constructor(log: Pick<EventLog, 'after'>) {
		this.log = log;
	}

	/**
	 * Whether to read: after each new event and, because of replicas and late commits, again whenever the time since the
	 * event has doubled, for a while.
	 */
	hasNews(position: Position, { newest, at }: Look): boolean {
		if (this.shortLook || !newest) return false;
		if (this.latestMark && at - this.latestMark.since >= maxLag) this.completeUpTo = this.latestMark.sequence;
		if (newest.identity !== this.latestMark?.identity) {
			this.latestMark = { ...newest, since: at };
			this.readAge = undefined;
		}
		settlePast(position, newest, at);
		if (newest.identity === this.settled?.identity) return false;
		const age = at - this.latestMark.since;
		return this.readAge === undefined || age >= maxLag + maxCommitTime || age >= 2 * this.readAge;
	}

	/** The sequence up to which a reading that begins after this look is complete. */
	readUpTo = ({ newest }: Look): number => Math.min(this.completeUpTo, newest?.sequence ?? 0);

	/** Notes that everything up to this look was read. */
	wasRead({ newest, at }: Look): void {
		if (!newest) return;
		if (this.latestMark?.identity !== newest.identity) return;
		this.readAge = at - this.latestMark.since;
		if (this.readAge >= maxLag + maxCommitTime) this.settled = newest;
	}

	/**
	 * Resets the position to the end of the log once it certainly ends before the position: two looks far apart
	 * agree, and the newest known event is gone.
	 *
	 * @returns what to tell the user
	 */
	async resetIfBehind(position: Position, { newest, at }: Look, now: number): Promise<string | undefined> {
		const storedNewest = position.newest;
		const reachedSequence = Math.max(position.sequence, storedNewest?.sequence ?? 0);
		// The events of an empty log have expired.
		if (!newest || newest.sequence >= reachedSequence) {
			this.shortLook = undefined;
			return undefined;
		}
		this.shortLook ??= { at, sequence: newest.sequence };
		if (now - this.shortLook.at < maxDoubtTime) return undefined;
		const there = storedNewest && (await this.eventAt(storedNewest.sequence));
		if (there && eventIdentity(there) === storedNewest.identity) return undefined;
		const { sequence } = this.shortLook;
		this.shortLook = undefined;
		this.completeUpTo = 0;
		const notice = logEnds(position.at, sequence, reachedSequence);
		restartAt(position, Math.min(sequence, newest.sequence));
		return notice;
	}

	/**
	 * Checks whether another log has replaced the one that was read. A lagging replica or a late commit may hide
	 * events for a while, so the decision waits; events still hidden after that have expired, or are not
	 * visible to this user.
	 *
	 * @returns also what to tell the user if another log has replaced it
	 */
	async checkSameLog(
		{ newest: storedNewest, sequence, at }: Position,
		now: number,
		share: Share,
	): Promise<{ isSure: boolean; notice?: string }> {
		let events: Array<CrmEvent | undefined> = [];
		const shareAt = (time: string): Share => async (question, ask) => await share(`${time} ${question}`, ask);
		if (storedNewest) {
			const lookAgain = async (time: string) => await this.eventAt(storedNewest.sequence, shareAt(time));
			events = [await lookAgain('first'), await lookAgain('second')];
		}
		if (events.includes(undefined)) {
			this.unsureSince ??= now;
			if (now - this.unsureSince < maxLag + maxCommitTime) return { isSure: false };
		}
		this.unsureSince = undefined;
		const isOther = events.length > 0 && events.every((event) => event && eventIdentity(event) !== storedNewest?.identity);
		return isOther ? { isSure: true, notice: otherLog(at, sequence) } : { isSure: true };
	}

	private async eventAt(sequence: number, share = unshared): Promise<CrmEvent | undefined> {
		const { value: event } = await this.log.after(sequence - 1, [], 1, share).next();
		return event && event.sequence === sequence ? event : undefined;
	}
}

/** Notes events of the log. The newest distinguishes the log from another one. */
export function noteNewest(position: Position, marks: Array<Mark | undefined>): void {
	for (const mark of marks) {
		if (mark && mark.sequence >= (position.newest?.sequence ?? 0)) {
			position.newest = { identity: mark.identity, sequence: mark.sequence };
		}
	}
}

/** Settles the sequence after which only the new choice counts. */
function settlePast({ past }: Position, newest: Mark, now: number): void {
	for (const pastChoice of past) {
		const isSettled = pastChoice.until !== undefined || pastChoice.byTime;
		if (!isSettled && now - pastChoice.at >= maxLag) pastChoice.until = Math.max(pastChoice.upTo, newest.sequence);
	}
}

const possibleCauses = 'The CRM may have been restored from a backup or reset, or the credential may see less than before.';

const logEnds = (at: string, end: number, reachedSequence: number): string =>
	`Events may be missing: the event log ends at sequence ${end}, before the position this trigger reached on ${at} (sequence ${reachedSequence}). ${possibleCauses} The trigger continues after sequence ${end}. Events up to that sequence that were added since ${at} have not started the workflow.`;

const otherLog = (at: string, sequence: number): string =>
	`Events may be missing: since ${at}, the event log no longer matches what this trigger has read. ${possibleCauses} Events of the restored log up to sequence ${sequence} may not have started the workflow; the trigger continues with those after it.`;
