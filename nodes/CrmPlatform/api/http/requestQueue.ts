import { timerCanceled, type Clock } from '../../base/clock';
import { getOrCreate } from '../../base/maps';
import { RateLimitTracker, slowAfter } from './rateLimitTracker';
import type { TransportResult } from './transport';

/** The most urgent first: a person waits; other executions and triggers; executions that have sent many requests. */
const priorities = ['awaited', 'ordinary', 'bulk'] as const;
export type Priority = (typeof priorities)[number];

/** How the requests of an execution are queued beside those of other executions. */
export interface QueueOptions {
	/** Equal for requests that share a rate limit: the address, and the API key or OAuth2 credential. */
	queueName: string;
	workflow: string;
	/** Id of the execution, which groups all its nodes and their runs. Without it, each sender counts as an execution. */
	execution?: string | undefined;
	priority: Priority;
	/** Priority after `bulkThreshold` requests. */
	laterPriority: Priority;
	/** Share of the plan (0 to 1) that bulk requests leave to other clients. */
	reserve: number;
}

export interface QueuedRequest {
	priority: Priority;
	workflow: string;
	/** A request that the service has deferred goes before the others of its workflow. */
	wasDeferred: boolean;
	execution?: unknown;
	/** Unix epoch milliseconds at which the request times out in the queue. */
	timeoutAt: number;
	/** As in `QueueOptions`. */
	reserve: number;
	signal?: AbortSignal | undefined;
	onWait?: OnWait | undefined;
}

/** Called before a wait; the returned function is called when it ends. */
export type OnWait = () => () => void;

/** The request timed out in the queue, or would have to wait too long. */
export interface QueueTimeout {
	/** Epoch milliseconds from which a retry makes sense. */
	retryAt: number;
}

export interface SentRequest {
	result: TransportResult;
	/** Milliseconds that it waited for its turn. */
	waited: number;
}

/** A request in flight. */
interface Slot {
	/** Unix epoch milliseconds. */
	sentAt: number;
}

interface WaitingRequest extends QueuedRequest {
	/** Called when its turn comes, or its time is over. */
	proceed(slot: Slot | QueueTimeout): void;
}

/** Every tenth turn goes to a lower priority, alternating between the two, so that neither starves. */
const turnsPerLowerPriority = 10;

/** Orders requests by priority, and within a priority round-robin by workflow. */
export class FairQueue<T extends Pick<QueuedRequest, 'priority' | 'workflow' | 'wasDeferred'>> {
	/** For each priority, the entries by workflow. */
	private readonly levels = priorities.map(() => new Map<string, T[]>());
	private turns = 0;

	get isEmpty(): boolean {
		return this.levels.every(({ size }) => size === 0);
	}

	add(entry: T): void {
		const entries = getOrCreate(this.levels[priorities.indexOf(entry.priority)]!, entry.workflow, () => []);
		if (entry.wasDeferred) entries.unshift(entry);
		else entries.push(entry);
	}

	take(condition: (entry: T) => boolean = () => true): T | undefined {
		for (const level of this.levelsByTurn()) {
			for (const [workflow, entries] of level) {
				if (!condition(entries[0]!)) continue;
				this.turns += 1;
				const entry = entries.shift();
				// A Map keeps insertion order, so re-inserting a workflow moves it behind the others.
				level.delete(workflow);
				if (entries.length > 0) level.set(workflow, entries);
				return entry;
			}
		}
		return undefined;
	}

	private levelsByTurn() {
		const turn = this.turns + 1;
		if (turn % turnsPerLowerPriority !== 0) return this.levels;
		const [, ...lower] = this.levels;
		if (turn % (2 * turnsPerLowerPriority) !== 0) lower.reverse();
		return [...lower, ...this.levels];
	}

	removeAll(condition: (entry: T) => boolean): T[] {
		const removed: T[] = [];
		for (const level of this.levels) {
			for (const [workflow, entries] of level) {
				const others: T[] = [];
				for (const entry of entries) (condition(entry) ? removed : others).push(entry);
				if (others.length > 0) level.set(workflow, others);
				else level.delete(workflow);
			}
		}
		return removed;
	}

	all(): T[] {
		return this.levels.flatMap((level) => [...level.values()].flat());
	}
}

/** Maximum milliseconds between two dispatches while requests wait: the system clock may be adjusted. */
const maxSleep = 60_000;
/** Milliseconds after its last request until an execution is forgotten. */
const executionTtl = 10 * 60_000;
/** Milliseconds past its timeout that a request may wait in an open window, since it only waits for responses. */
const gracePeriod = 10_000;

/** All requests under one rate limit. A slot is released when its request settles, for which the transport sets a limit. */
export class RequestQueue {
	private readonly clock: Clock;
	private readonly waiting = new FairQueue<WaitingRequest>();
	private readonly slots = new Set<Slot>();
	private readonly rateLimit = new RateLimitTracker();
	/** Requests sent per execution, and when the last one was; least recent first. */
	private readonly sentByExecution = new Map<unknown, { requests: number; at: number }>();
	/** Earliest timeout of the waiting requests, or of one that no longer waits. */
	private nextTimeoutAt = Infinity;
	private timer: { at: number; cancel: AbortController } | undefined;

	constructor(clock: Clock) {
		this.clock = clock;
	}

	/** @throws the abort reason when the execution is canceled while the request waits */
	async enqueue(request: QueuedRequest, send: () => Promise<TransportResult>): Promise<SentRequest | QueueTimeout> {
		request.signal?.throwIfAborted();
		const queuedAt = this.clock.now();
		const endWait = request.onWait?.();
		const slot = await this.nextSlot(request).finally(endWait);
		if ('retryAt' in slot) return slot;
		try {
			request.signal?.throwIfAborted();
			this.countSent(request.execution, slot.sentAt);
			const result = await send();
			if ('headers' in result) this.rateLimit.noteResponse(result, slot.sentAt, this.clock.now(), this.clock.random());
			return { result, waited: slot.sentAt - queuedAt };
		} finally {
			this.slots.delete(slot);
			this.dispatch();
		}
	}

	private async nextSlot(request: QueuedRequest): Promise<Slot | QueueTimeout> {
		const { signal } = request;
		let abort = () => {};
		const slot = new Promise<Slot | QueueTimeout>((proceed, reject) => {
			const entry = { ...request, proceed };
			abort = () => {
				this.waiting.removeAll((other) => other === entry);
				this.dispatch();
				reject(signal?.reason as Error);
			};
			signal?.addEventListener('abort', abort, { once: true });
			this.nextTimeoutAt = Math.min(this.nextTimeoutAt, entry.timeoutAt);
			this.waiting.add(entry);
			this.dispatch();
		});
		return await slot.finally(() => signal?.removeEventListener('abort', abort));
	}

	/** How many requests an execution has sent lately. */
	sentCount(execution: unknown): number {
		return this.sentByExecution.get(execution)?.requests ?? 0;
	}

	private countSent(execution: unknown, now: number): void {
		const requests = this.sentCount(execution) + 1;
		this.sentByExecution.delete(execution);
		this.sentByExecution.set(execution, { requests, at: now });
		for (const [other, { at }] of this.sentByExecution) {
			if (now - at < executionTtl) break;
			this.sentByExecution.delete(other);
		}
	}

	/** Whether the queue may be dropped: it has no requests and knows no window. */
	isIdle(): boolean {
		const now = this.clock.now();
		return this.waiting.isEmpty && this.slots.size === 0 && !this.rateLimit.isKnown(now);
	}

	/** Gives slots to the requests that can be sent now, and sets a timer for the others. */
	private dispatch(): void {
		const now = this.clock.now();
		this.timeOutOverdue(now);
		const hasRoom = (reserve: number) => this.rateLimit.room(now, this.slots, reserve) > 0;
		while (hasRoom(0)) {
			const next = this.waiting.take(({ reserve }) => hasRoom(reserve));
			if (!next) break;
			const slot = { sentAt: now };
			this.slots.add(slot);
			next.proceed(slot);
		}
		this.setTimer(now);
	}

	/** Times out requests: after a grace period, or immediately if their window opens after their timeout. */
	private timeOutOverdue(now: number): void {
		const opensAt = (reserve: number) => this.rateLimit.exhaustedUntil(now, reserve);
		const isOverdue = ({ reserve, timeoutAt }: Pick<WaitingRequest, 'reserve' | 'timeoutAt'>) =>
			timeoutAt < (opensAt(reserve) ?? now - gracePeriod);
		// Each response comes here, and thousands of requests may wait: none is overdue if the earliest timeout is not.
		if (!isOverdue({ reserve: 1, timeoutAt: this.nextTimeoutAt })) return;
		for (const entry of this.waiting.removeAll(isOverdue)) entry.proceed({ retryAt: opensAt(entry.reserve) ?? now });
		this.nextTimeoutAt = this.waiting.all().reduce((earliest, { timeoutAt }) => Math.min(earliest, timeoutAt), Infinity);
	}

	private setTimer(now: number): void {
		if (this.waiting.isEmpty) {
			this.timer?.cancel.abort(timerCanceled);
			this.timer = undefined;
			return;
		}
		let at = Math.min(now + maxSleep, this.nextTimeoutAt + gracePeriod + 1, this.rateLimit.nextChangeAt(now));
		for (const { sentAt } of this.slots) if (sentAt + slowAfter > now) at = Math.min(at, sentAt + slowAfter);
		if (this.timer && this.timer.at <= at) return;
		this.timer?.cancel.abort(timerCanceled);
		const timer = { at, cancel: new AbortController() };
		const onTimer = () => {
			if (this.timer !== timer) return;
			this.timer = undefined;
			this.dispatch();
		};
		this.timer = timer;
		this.clock.sleep(Math.max(1, at - now), timer.cancel.signal).then(onTimer, onTimer);
	}
}

// Shared by the whole process. Each test has its own clock, and with it its own queues.
const queues = new WeakMap<Clock, Map<string, RequestQueue>>();

/** The shared queue of this name (`QueueOptions.queueName`). Look it up for each request: idle queues are dropped. */
export function queueFor(queueName: string, clock: Clock): RequestQueue {
	const byName = getOrCreate(queues, clock, () => new Map<string, RequestQueue>());
	return getOrCreate(byName, queueName, () => {
		for (const [other, queue] of byName) if (queue.isIdle()) byName.delete(other);
		return new RequestQueue(clock);
	});
}
