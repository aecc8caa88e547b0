import type { INodeExecutionData, ITriggerFunctions } from 'n8n-workflow';

import type { Clock } from '../../base/clock';
import { storeState, type StateVersion } from '../storedState';
import { hasExecution, storeOnly } from '../unwritable';
import type { DispatchOptions } from './eventChoice';
import { reportAbandonedGroups } from './abandonedGroups';
import { WaitingGroups } from './waitingGroups';
import { splitOff } from './group';
import type { Loaded, LoadFailure } from './loadGroup';
import { advanceGroup, delayAfter, firstOfRecords, isBehind, maxRefusals } from './startOrder';
import { setAsideError, unreadError, type Outcome } from './outcome';
import type { Group, Position } from './position';
import { ReadAhead } from './readAhead';
import { reportFailure } from '../reportFailure';
import { executionKey, Starts } from './starts';

/**
 * Starts executions for the open groups of a position, and closes a group when its execution has reached the
 * outcome that the user chose.
 *
 * Each start has a key that n8n keeps unique among its executions (`emit`, since n8n 2.20), so a group that is
 * started again after a crash starts nothing if its execution exists. n8n settles such a start with `undefined`
 * (2.41, trigger-execution-context.factory).
 */
export class Dispatcher {
	readonly position: Position;
	private n8n: ITriggerFunctions;
	private options: DispatchOptions;
	private readonly clock: Clock;
	/** The executions under way. */
	private readonly running: Starts;
	private readonly waiting = new WaitingGroups();
	private storedVersion: StateVersion = { takeover: 0, revision: 0 };
	private isStored = true;
	private closedAt = 0;
	private opening = new AbortController();
	private readonly ahead = new ReadAhead();
	/** Called when the outcome of a group is known. */
	onSettled: () => void = () => undefined;

	constructor(n8n: ITriggerFunctions, position: Position, options: DispatchOptions, clock: Clock) {
		this.n8n = n8n;
		this.position = position;
		this.options = options;
		this.clock = clock;
		this.running = new Starts(clock);
	}

	/** Continues after the workflow was published again in this process. */
	reopen(n8n: ITriggerFunctions, options: DispatchOptions): void {
		this.n8n = n8n;
		this.options = options;
		this.stop();
		this.opening = new AbortController();
	}

	/** Version of the position that this process has stored last: another process may have stored a newer one. */
	get version(): StateVersion {
		return this.storedVersion;
	}

	/** Aborted when the trigger is closed, or opened again. */
	get signal(): AbortSignal {
		return this.opening.signal;
	}

	/** Starts nothing further; executions under way are still followed to their end. */
	stop(): void {
		this.opening.abort();
		this.closedAt = this.clock.now();
		this.onSettled = () => undefined;
	}

	/** Stops, and stores the outcomes so far. */
	close(): void {
		this.store();
		this.stop();
	}

	/** Whether nothing has been under way since this instant (Unix epoch ms). */
	isIdleSince = (instant: number): boolean => this.signal.aborted && this.running.size === 0 && this.closedAt < instant;

	/** How many groups may be opened now: none or many, as each reading costs a request. */
	roomForGroups(): number {
		const warn = (message: string) => this.n8n.logger.warn(`${this.n8n.getNode().name}: ${message}`);
		return this.ahead.room(this.position.open.length, this.startable().length, this.options.groupSize, warn);
	}

	/** When the next group that failed is due, later than this instant (Unix epoch ms); Infinity if none waits. */
	nextDue(after: number): number {
		return this.waiting.nextDue(after);
	}

	/** Notes a change of the position that no start has stored yet. */
	changed(): void {
		this.isStored = false;
	}

	/**
	 * Starts every group that is due, in order, while there are free slots. Groups about the same record are
	 * started one after the other.
	 *
	 * @param load reads the items of a group, and is passed how often that has failed before; an empty list
	 * closes the group without an execution
	 * @param signal the signal of the opening; another opening may follow meanwhile
	 */
	async startDue(load: (group: Group, tries: number) => Promise<Loaded>, signal: AbortSignal): Promise<void> {
		if (signal.aborted) return;
		this.running.check(this.n8n);
		const { n8n, options, position, running, clock, waiting } = this;
		const isRunning = ({ name }: Group) => running.has(name);
		const abandoned = await reportAbandonedGroups({ n8n, position, isRunning, options, clock, signal });
		for (const group of abandoned) this.finish(group);
		if (signal.aborted) return;
		for (const group of this.startable()) {
			if (this.running.size >= this.options.atOnce) return;
			if (this.options.doneWhen === 'ended' && isBehind(group, this.position.open, waiting.failedReadings)) return;
			const { items, failures } = await load(group, waiting.failedReadings.get(group.name) ?? 0);
			// If the trigger was published again meanwhile, it may have started the group already.
			if (signal.aborted) return;
			waiting.endWait(group.name, failures.length === 0);
			const rest = failures.length === 0 ? group : await this.setUnreadableAside(group, failures, signal);
			if (signal.aborted) return;
			if (rest === undefined) continue;
			if (items.length === 0) this.finish(rest);
			else this.start(rest, items);
		}
	}

	private startable(): Group[] {
		const now = this.clock.now();
		const isDue = ({ name }: Group) => !this.running.has(name) && this.waiting.isDue(name, now);
		return firstOfRecords(this.position.open, isDue);
	}

	/** Has n8n store the position if nothing is under way; otherwise, the next start stores it. */
	storeWhenIdle(): void {
		if (this.running.size === 0) this.store();
	}

	/** Has n8n store the position without starting anything, unless it has stored it already. */
	store(): void {
		if (this.isStored) return;
		this.isStored = true;
		this.putInStaticData();
		storeOnly(this.n8n, () => (this.isStored = false));
	}

	/** Puts the position where n8n stores it: with the next `emit`, and after activation. */
	putInStaticData(options?: { isTakeover: boolean }): void {
		this.storedVersion = storeState(this.n8n, this.position, options);
	}

	/**
	 * Sets aside what could not be read if the service keeps refusing it; until then, postpones it.
	 *
	 * @returns the group of what could be read; undefined if there is none
	 */
	private async setUnreadableAside(group: Group, failures: LoadFailure[], signal: AbortSignal): Promise<Group | undefined> {
		const { n8n, clock, waiting } = this;
		const left = group.ids.filter((id) => !failures.some(({ ids }) => ids.includes(id)));
		const tries = (waiting.failedReadings.get(group.name) ?? 0) + 1;
		const isRefused = failures.every(({ isFinal }) => isFinal);
		if (!isRefused && tries >= maxRefusals && waiting.reportOnce(group.name)) {
			reportFailure(n8n, unreadError(n8n.getNode(), group, failures, 'waits'));
		}
		// At first a group is read as a whole, then without its unreadable part.
		if (tries < maxRefusals || (left.length === 0 && !isRefused)) {
			waiting.postponeReading(group.name, tries, clock.now() + delayAfter(tries));
			return undefined;
		}
		// The group may have been started before n8n was killed, when all of it was readable.
		const isStarted = await hasExecution(n8n, executionKey(n8n, group), clock);
		// If the trigger was published again meanwhile, the later opening decides.
		if (signal.aborted) return undefined;
		if (isStarted) {
			this.settle(group, 'unknown', group.isEmitted);
			return undefined;
		}
		if (left.length === 0) {
			this.finish(group);
			reportFailure(n8n, unreadError(n8n.getNode(), group, failures, 'set aside'));
			return undefined;
		}
		const { open } = this.position;
		const [rest, ...others] = splitOff(group, left, failures.map(({ ids }) => ids));
		open.splice(open.indexOf(group), 1, rest!, ...others);
		waiting.failedReadings.delete(group.name);
		for (const { name } of others) waiting.postponeReading(name, tries, clock.now() + delayAfter(tries));
		this.isStored = false;
		return rest;
	}

	private start(group: Group, items: INodeExecutionData[]): void {
		const { n8n } = this;
		this.waiting.failedReadings.delete(group.name);
		this.isStored = true;
		const wasEmitted = group.isEmitted;
		group.isEmitted = true;
		// `emit` stores the position together with the group.
		this.putInStaticData();
		const isDoneWhenBegun = this.options.doneWhen === 'started';
		this.running.begin(n8n, { group, items, isDoneWhenBegun, settle: (outcome) => this.settle(group, outcome, wasEmitted) });
	}

	private settle(group: Group, outcome: Outcome, wasEmitted: boolean | undefined): void {
		this.isStored = false;
		const next = advanceGroup(group, outcome, wasEmitted === true, this.options);
		if (next === 'finish') {
			this.finish(group);
		} else if (next === 'set aside') {
			this.setAside(group, outcome);
		} else {
			this.waiting.postpone(group.name, this.clock.now() + next);
		}
		if (this.signal.aborted) this.storeWhenIdle();
		this.onSettled();
	}

	private finish(group: Group): void {
		this.position.open = this.position.open.filter((openGroup) => openGroup !== group);
		this.waiting.remove(group.name);
		this.isStored = false;
	}

	private setAside(group: Group, outcome: Outcome): void {
		this.finish(group);
		this.n8n.saveFailedExecution(setAsideError(this.n8n.getNode(), group, outcome));
	}
}
