import { latestWindow, measuredShare, mostUnderWay, rateWindow, retryAfter, type RateWindow } from './pace';
import { rateLimited } from './retry';
import type { HttpResponse } from './transport';

/** Maximum pause (ms) of all requests after a refusal that names no window: it may concern one path only. */
const longestPause = 60_000;
/** How long (ms) the reported end of an exhausted window is trusted: the service may have reported it wrongly or reset it. */
const longestTrust = 60_000;
/** Requests that ask at once what is left: as many as one execution sends. */
const asks = 4;

/** The rate limit as responses report it, and the resulting number of concurrent requests. Times are epoch milliseconds. */
export class PlanUse {
	private window: RateWindow | undefined;
	/** When a response last reported the window. */
	private toldAt = 0;
	/** Since when requests ask for the window; undefined while it is known, and before the first. */
	private askingSince: number | undefined;
	/** Whether any response has reported a window. */
	private isTold = false;
	private share = 1 / 8;
	/** What was left at the window's first answer, and how many have been answered since. */
	private first = { remaining: 0, answered: 0 };
	/** What was left when the window began, as far as it is known: all answers of one window tell less. */
	private whole = 0;
	private isUntold = false;

	/** A request is sent. */
	sent(now: number): void {
		if (!this.isKnown(now)) this.askingSince ??= now;
	}

	/** Nobody waits, and nothing is under way. */
	rest(): void {
		this.askingSince = undefined;
	}

	/**
	 * @param underWay requests of this process that are still to be answered
	 * @param sentAt when the request was sent that is answered
	 */
	hear({ status, headers }: Pick<HttpResponse, 'status' | 'headers'>, underWay: number, sentAt: number, now: number): void {
		const told = rateWindow(headers, now);
		if (told) this.follow(told, status, underWay, sentAt, now);
		else if (status === rateLimited) {
			const pause = Math.min(retryAfter(headers, now) ?? 0, longestPause);
			this.window = latestWindow(this.window, { remaining: 0, resetsAt: now + pause }, now);
			this.toldAt = now;
			this.askingSince = undefined;
			this.isUntold = false;
		} else if (status < 400 && !this.isTold && !this.isKnown(now)) this.isUntold = true;
	}

	/** How many requests may be under way for one more to go that leaves a part of the window (0 to 1) to others. */
	most(now: number, forOthers = 0): number {
		if (this.window && this.isKnown(now)) return mostUnderWay(this.left(this.window, forOthers), this.share);
		if (this.isUntold) return Infinity;
		// Where a window was used up, others wait for the next one, too.
		const first = this.window?.remaining === 0 ? 1 : asks;
		// Without an answer more and more ask: a service that hangs must not hold up everyone.
		return first * 2 ** Math.floor((now - (this.askingSince ?? now)) / 1_000);
	}

	/**
	 * When a window ends that has nothing left but what is for others; undefined where there is room.
	 *
	 * @param forOthers part of the window (0 to 1)
	 */
	shutUntil(now: number, forOthers: number): number | undefined {
		return this.window && this.isKnown(now) && this.left(this.window, forOthers).remaining <= 0 ? this.window.resetsAt : undefined;
	}

	/** The window without what is for others. What they had used when it was first told, they have already. */
	private left({ remaining, resetsAt }: RateWindow, forOthers: number): RateWindow {
		return { remaining: remaining - Math.floor(this.whole * forOthers), resetsAt };
	}

	/** When more may go than now, answers apart. */
	nextChange(now: number): number {
		if (this.window && this.isKnown(now)) return Math.min(this.window.resetsAt, this.window.remaining > 0 ? Infinity : this.toldAt + longestTrust);
		const since = this.askingSince ?? now;
		return since + (Math.floor((now - since) / 1_000) + 1) * 1_000;
	}

	isKnown(now: number): boolean {
		if (this.window === undefined || this.window.resetsAt <= now) return false;
		// Where nothing is sent, no answer corrects it.
		return this.window.remaining > 0 || Math.abs(now - this.toldAt) < longestTrust;
	}

	private follow(told: RateWindow, status: number, underWay: number, sentAt: number, now: number): void {
		// An answer asked for after the window was told last has overtaken nothing: it counts.
		const isOther = isEarlier(told, this.window) || told.remaining > (this.window?.remaining ?? 0);
		// The Date header has whole seconds, so the end that answers tell wavers: only an end that has passed begins another window.
		if (!this.window || this.window.resetsAt <= now || told.remaining > this.whole) this.whole = told.remaining;
		const before = sentAt >= this.toldAt && isOther ? undefined : this.window;
		this.window = latestWindow(before, told, now) ?? told;
		if (!isEarlier(told, this.window)) this.toldAt = now;
		this.isTold = true;
		this.isUntold = false;
		if (!this.isKnown(now)) return;
		this.askingSince = undefined;
		const isNew = !before || before.resetsAt <= now || this.window.resetsAt - before.resetsAt > 1_000;
		if (isNew) this.first = { remaining: told.remaining, answered: 0 };
		else if (status !== rateLimited) this.first.answered += 1;
		const counted = this.first.remaining - this.window.remaining;
		this.share = measuredShare(this.share, counted, this.first.answered, underWay);
	}
}

const isEarlier = (told: RateWindow, known: RateWindow | undefined): boolean =>
	known !== undefined && known.resetsAt - told.resetsAt > 1_000;
