import { latestWindow, longestPause, measuredShare, mostUnderWay, rateWindow, retryAfter, type RateWindow } from './pace';
import { rateLimited } from './retry';
import type { HttpResponse } from './transport';

/** How long (ms) the reported end of an exhausted window is trusted: the service may have reported it wrongly or reset it. */
const longestTrust = 60_000;
/** Concurrent requests while no window is known: as many as one execution sends. */
const asks = 4;
/** Milliseconds after which the largest window seen is forgotten: the plan may have become smaller. */
const memoryOfWhole = 60 * 60_000;
/** Milliseconds after which an answer is late: others do not wait for it. */
const late = 1_000;

/** The rate limit as responses report it, and the resulting number of concurrent requests. Times are epoch milliseconds. */
export class PlanUse {
	private window: RateWindow | undefined;
	/** When a response last reported the window. */
	private toldAt = 0;
	/** Since when requests wait without an answer that says how many may go, whether or not a window is known; undefined while none does. */
	private silence: { since: number; isKnown: boolean } | undefined;
	/** When the latest request was sent that the reported remainder includes. */
	private countedAt = -Infinity;
	/** Whether any response has reported a window. */
	private isTold = false;
	private share = 1 / 8;
	/** What was left at the window's first answer, and how many have been answered since. */
	private first = { remaining: 0, answered: 0 };
	/** The most that was left in the last hour: what a window begins with, unless others have always been first. */
	private whole = { requests: 0, at: -Infinity };
	private isUntold = false;

	/** Somebody waits. */
	wanted(now: number): void {
		const isKnown = this.isKnown(now);
		if (this.silence?.isKnown !== isKnown) this.silence = { since: now, isKnown };
	}

	/** Nobody waits, and nothing is under way. */
	rest(): void {
		this.silence = undefined;
	}

	/**
	 * @param underWay requests of this process that are still to be answered
	 * @param sentAt when the request was sent that is answered
	 */
	hear({ status, headers }: Pick<HttpResponse, 'status' | 'headers'>, underWay: number, sentAt: number, now: number): void {
		const told = rateWindow(headers, now);
		if (this.silence?.isKnown) this.silence = undefined;
		if (told) this.follow(told, status, underWay, sentAt, now);
		else if (status === rateLimited) {
			const pause = Math.min(retryAfter(headers, now) ?? 0, longestPause);
			this.window = latestWindow(this.window, { remaining: 0, resetsAt: now + pause }, now);
			this.toldAt = now;
			this.silence = undefined;
			this.isUntold = false;
		} else if (status < 400 && !this.isTold && !this.isKnown(now)) this.isUntold = true;
	}

	/** How many requests may be under way for one more to go that leaves a part of the window (0 to 1) to others. */
	most(now: number, forOthers = 0): number {
		// Without an answer more and more go: a service that hangs must not hold up everyone.
		const growth = 2 ** Math.max(0, Math.floor((now - (this.silence?.since ?? now)) / late));
		if (this.window && this.isKnown(now)) {
			const left = this.left(this.window, forOthers);
			return Math.min(left.remaining, mostUnderWay(left, this.share) * growth);
		}
		if (this.isUntold) return Infinity;
		// Where a window was used up, others wait for the next one, too.
		return (forOthers > 0 || this.window?.remaining === 0 ? 1 : asks) * growth;
	}

	/** When the first of the requests under way was sent that count: earlier ones are counted in what is left, or belong to the window before. */
	countFrom(now: number): number {
		return this.isKnown(now) ? Math.min(this.countedAt, now - late) : (this.silence?.since ?? now);
	}

	/**
	 * When a window ends that has nothing left but what is for others; undefined where there is room.
	 *
	 * @param forOthers part of the window (0 to 1)
	 */
	shutUntil(now: number, forOthers: number): number | undefined {
		return this.window && this.isKnown(now) && this.left(this.window, forOthers).remaining <= 0 ? this.window.resetsAt : undefined;
	}

	/** The window without what is for others. */
	private left({ remaining, resetsAt }: RateWindow, forOthers: number): RateWindow {
		return { remaining: remaining - Math.floor(this.whole.requests * forOthers), resetsAt };
	}

	/** When more may go than now, answers apart. */
	nextChange(now: number): number {
		const since = this.silence?.since ?? now;
		const more = since + (Math.floor((now - since) / late) + 1) * late;
		if (!this.window || !this.isKnown(now)) return more;
		return Math.min(this.window.resetsAt, this.window.remaining > 0 ? more : this.toldAt + longestTrust);
	}

	isKnown(now: number): boolean {
		if (this.window === undefined || this.window.resetsAt <= now) return false;
		// Where nothing is sent, no answer corrects it.
		return this.window.remaining > 0 || Math.abs(now - this.toldAt) < longestTrust;
	}

	private follow(told: RateWindow, status: number, underWay: number, sentAt: number, now: number): void {
		// An answer asked for after the window was told last has overtaken nothing: it counts.
		const isOther = isEarlier(told, this.window) || told.remaining > (this.window?.remaining ?? 0);
		if (told.remaining >= this.whole.requests || now - this.whole.at >= memoryOfWhole) this.whole = { requests: told.remaining, at: now };
		const before = sentAt >= this.toldAt && isOther ? undefined : this.window;
		this.window = latestWindow(before, told, now) ?? told;
		if (!isEarlier(told, this.window)) this.toldAt = now;
		this.isTold = true;
		this.isUntold = false;
		if (!this.isKnown(now)) return;
		this.silence = undefined;
		this.countedAt = Math.max(this.countedAt, sentAt);
		const isNew = !before || before.resetsAt <= now || this.window.resetsAt - before.resetsAt > 1_000;
		if (isNew) this.first = { remaining: told.remaining, answered: 0 };
		else if (status !== rateLimited) this.first.answered += 1;
		const counted = this.first.remaining - this.window.remaining;
		this.share = measuredShare(this.share, counted, this.first.answered, underWay);
	}
}

const isEarlier = (told: RateWindow, known: RateWindow | undefined): boolean =>
	known !== undefined && known.resetsAt - told.resetsAt > 1_000;
