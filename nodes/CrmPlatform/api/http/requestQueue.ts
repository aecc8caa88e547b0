import type { Clock } from './clock';
import { PlanUse } from './planUse';
import type { HttpResponse } from './transport';
import { TurnOrder, type Rank, type Ticket } from './turnOrder';

/** How the requests of an execution are queued beside those of others. */
export interface Turns {
	/** Address and credential: what has a rate limit of its own. */
	account: string;
	workflow: string;
	/** The nodes of an execution, and each of their runs, count as one. Where it has no id, each sender counts by itself. */
	execution?: string | undefined;
	/** Of its first requests. */
	rank: Rank;
	/** Once it has sent many. */
	rankOfMany: Rank;
	/** Milliseconds that a request may stand in the queue where nobody waits for it. */
	maxWait: number;
	/** Part of the plan (0 to 1) that bulk leaves to others. */
	forOthers: number;
}

/** A request that asks for its turn. */
export interface Turn extends Ticket {
	/** What tells the execution from others. */
	execution?: unknown;
	/** Unix epoch milliseconds at which it gives up. */
	until: number;
	/** Part of the plan (0 to 1) that it leaves to others. */
	forOthers: number;
	/** Milliseconds after which nobody waits for its answer any more. */
	deadline: number;
	signal?: AbortSignal | undefined;
}

/** It has waited too long, or would have to; `returnAt` (epoch milliseconds) says when to come back. */
interface GaveUp {
	returnAt: number;
}

/** A request under way. */
interface Place {
	/** Unix epoch milliseconds. */
	sentAt: number;
	/** Unix epoch milliseconds at which the place is free, whatever became of the request. */
	freeAt: number;
}

interface Waiting extends Turn {
	settle(outcome: Place | GaveUp): void;
}

/** Milliseconds after which those that wait look again in any case, since clocks are set. */
const longestSleep = 60_000;
/** Milliseconds for which an execution that sends nothing is remembered. */
const rememberedFor = 10 * 60_000;
/** Grace period (ms) for a request in an open window, which waits for in-flight responses only. */
const patience = 10_000;
/** Ends an alarm; by default it would cost an error of its own. */
const nobodyWaits = new Error('Nobody waits any more');

/**
 * All requests under one rate limit. Each is sent when there is room, the most urgent first. No place is
 * held for ever: whoever is cancelled, fails or gets no answer frees it.
 */
export class RequestQueue {
	private readonly clock: Clock;
	private readonly waiting = new TurnOrder<Waiting>();
	private readonly places = new Set<Place>();
	private readonly plan = new PlanUse();
	/** How many requests each execution has sent, and when the last one; in the order of that. */
	private readonly sent = new Map<unknown, { requests: number; at: number }>();
	/** Earliest deadline of the waiting requests. */
	private nextGivingUp = Infinity;
	private alarm: { at: number; cancel: AbortController } | undefined;

	constructor(clock: Clock) {
		this.clock = clock;
	}

	/** Sends in its turn, and frees the place whatever happens. @throws the reason why the execution is cancelled */
	async inTurn<Answer extends object>(turn: Turn, send: () => Promise<Answer>): Promise<Answer | GaveUp> {
		turn.signal?.throwIfAborted();
		let abort = () => {};
		const cancelled = () => abort();
		turn.signal?.addEventListener('abort', cancelled, { once: true });
		try {
			const place = await new Promise<Place | GaveUp>((settle, reject) => {
				const ticket = { ...turn, settle };
				abort = () => {
					this.waiting.remove(ticket);
					this.goOn();
					reject(turn.signal?.reason as Error);
				};
				this.nextGivingUp = Math.min(this.nextGivingUp, turn.until);
				this.waiting.add(ticket);
				this.goOn();
			});
			if ('returnAt' in place) return place;
			abort = () => this.free(place);
			try {
				turn.signal?.throwIfAborted();
				const sentAt = this.clock.now();
				this.count(turn.execution, sentAt);
				const answer = await send();
				const now = this.clock.now();
				if ('headers' in answer) this.plan.hear(answer as unknown as HttpResponse, this.underWay(now) - 1, sentAt, now);
				return answer;
			} finally {
				this.free(place);
			}
		} finally {
			turn.signal?.removeEventListener('abort', cancelled);
		}
	}

	/** How many requests an execution has sent lately. */
	sentBy(execution: unknown): number {
		return this.sent.get(execution)?.requests ?? 0;
	}

	private count(execution: unknown, now: number): void {
		const requests = this.sentBy(execution) + 1;
		this.sent.delete(execution);
		this.sent.set(execution, { requests, at: now });
		for (const [other, { at }] of this.sent) {
			if (now - at < rememberedFor) break;
			this.sent.delete(other);
		}
	}

	/** How many other workflows wait for their turn. */
	othersThan(workflow: string): number {
		return this.waiting.othersThan(workflow);
	}

	/** Milliseconds, as far as is known, until a request that leaves so much to others can be sent. */
	delay(forOthers: number): number {
		const now = this.clock.now();
		return (this.plan.shutUntil(now, forOthers) ?? now) - now;
	}

	/** Whether a new queue would know as much. */
	isIdle(): boolean {
		const now = this.clock.now();
		return this.waiting.isEmpty && this.underWay(now) === 0 && !this.plan.isKnown(now);
	}

	private free(place: Place): void {
		this.places.delete(place);
		this.goOn();
	}

	/** @param from counts only requests sent then or later (Unix epoch ms) */
	private underWay(now: number, from = -Infinity): number {
		let count = 0;
		for (const place of this.places) {
			if (place.freeAt <= now) this.places.delete(place);
			else if (place.sentAt >= from) count += 1;
		}
		return count;
	}

	/** Sends those that may go, and sets an alarm for the others. */
	private goOn(): void {
		const now = this.clock.now();
		this.giveUpOverdue(now);
		if (!this.waiting.isEmpty) this.plan.wanted(now);
		for (;;) {
			const underWay = this.underWay(now, this.plan.countFrom(now));
			const mayGo = ({ forOthers }: Waiting) => underWay < this.plan.most(now, forOthers);
			const ticket = underWay < this.plan.most(now) && this.waiting.take(mayGo);
			if (!ticket) break;
			const place = { sentAt: now, freeAt: now + ticket.deadline };
			this.places.add(place);
			ticket.settle(place);
		}
		this.setAlarm(now);
	}

	/** A wait that would be too long is not begun. */
	private giveUpOverdue(now: number): void {
		const opensAt = ({ forOthers }: Pick<Waiting, 'forOthers'>) => this.plan.shutUntil(now, forOthers) ?? now - patience;
		if (opensAt({ forOthers: 1 }) <= this.nextGivingUp) return;
		const isOverdue = (ticket: Waiting) => ticket.until < opensAt(ticket);
		for (const ticket of this.waiting.removeAll(isOverdue)) ticket.settle({ returnAt: Math.max(opensAt(ticket), now) });
		this.nextGivingUp = Math.min(Infinity, ...this.waiting.all().map(({ until }) => until));
	}

	private setAlarm(now: number): void {
		if (this.waiting.isEmpty) {
			if (this.places.size === 0) this.plan.rest();
			this.alarm?.cancel.abort(nobodyWaits);
			this.alarm = undefined;
			return;
		}
		let at = Math.min(now + longestSleep, this.nextGivingUp + patience + 1, this.plan.nextChange(now));
		for (const { freeAt } of this.places) at = Math.min(at, freeAt);
		if (this.alarm && this.alarm.at <= at) return;
		this.alarm?.cancel.abort(nobodyWaits);
		const alarm = { at, cancel: new AbortController() };
		const ring = () => {
			if (this.alarm !== alarm) return;
			this.alarm = undefined;
			this.goOn();
		};
		this.alarm = alarm;
		this.clock.sleep(Math.max(1, at - now), alarm.cancel.signal).then(ring, ring);
	}
}

// Each process of n8n has its own, and so has each clock, as tests bring one.
const queues = new WeakMap<Clock, Map<string, RequestQueue>>();

/**
 * The queue of an account. It is asked for with each request, since one that nobody uses vanishes.
 *
 * @param account address and credential
 */
export function queueOf(account: string, clock: Clock): RequestQueue {
	const ofClock = queues.get(clock) ?? new Map<string, RequestQueue>();
	queues.set(clock, ofClock);
	const known = ofClock.get(account);
	if (known) return known;
	for (const [other, queue] of ofClock) if (queue.isIdle()) ofClock.delete(other);
	const queue = new RequestQueue(clock);
	ofClock.set(account, queue);
	return queue;
}
