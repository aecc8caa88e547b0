import { type INodeExecutionData, type ITriggerFunctions, NodeOperationError } from 'n8n-workflow';

import type { Clock } from '../../base/clock';
import type { EventLog } from '../../log/eventLog';
import { isStartedByN8n, reportFailure } from '../reportFailure';
import { forgetStates, isNewestState, type StateVersion, storeState, triggerKey } from '../storedState';
import { hasExecution, storeOnly } from '../unwritable';
import { executionKey, forgetN8n, runExecution, runsOnWorkers, tracedOutcome } from './execution';
import {
	isAbandoned, isBehind, isRunning, type Ledger, type LedgerEffect, type LedgerEvent, ledgerOf, maxOpen, nextDue, nextLedger, roomForGroups, startable,
} from './ledger';
import type { Loaded } from './loadGroup';
import { type Beginning, openPosition } from './openPosition';
import type { DispatchOptions } from './pollProperties';
import { type Group, groupOfEvents, type Position, memberRecords, storedPosition } from './position';
import { forgetLooks } from './reading';
import { abandonedError, setAsideError, silentError, unreadError } from './reports';

/**
 * Starts executions for the open groups of a position, and closes a group when its execution has reached the
 * outcome that the user chose, as the ledger decides.
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
	private ledger: Ledger;
	private storedVersion: StateVersion = { takeover: 0, revision: 0 };
	private isStored = true;
	private closedAt = 0;
	private opening = new AbortController();
	private isFull = false;
	/** Called when the outcome of a group is known. */
	onSettled: () => void = () => undefined;

	constructor(n8n: ITriggerFunctions, position: Position, options: DispatchOptions, clock: Clock) {
		this.n8n = n8n;
		this.position = position;
		this.options = options;
		this.clock = clock;
		this.ledger = ledgerOf(position.open);
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
	isIdleSince = (instant: number): boolean => this.signal.aborted && this.ledger.starts.size === 0 && this.closedAt < instant;

	/** How many groups may be opened now. */
	roomForGroups(): number {
		const { n8n, position: { open }, isFull, clock } = this;
		this.isFull = open.length >= maxOpen;
		if (this.isFull && !isFull) n8n.logger.warn(`${n8n.getNode().name}: ${full}`);
		return roomForGroups(open.length, startable(this.current, clock.now()).length, this.options.groupSize);
	}

	/** When the next group that failed is due, later than this instant (Unix epoch ms); Infinity if none waits. */
	nextDue(after: number): number {
		return nextDue(this.ledger, after);
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
		this.checkStarts();
		await this.setAbandonedAside(signal);
		for (const group of startable(this.current, this.clock.now())) {
			const running = this.position.open.filter(({ name }) => isRunning(this.ledger, name)).length;
			if (signal.aborted || running >= this.options.atOnce) return;
			if (this.options.doneWhen === 'ended' && isBehind(group, this.current)) return;
			const { items, failures } = await load(group, this.ledger.waits.get(group.name)?.failedReadings ?? 0);
			// If the trigger was published again meanwhile, it may have started the group already.
			if (signal.aborted) return;
			const loaded = { is: 'loaded', name: group.name, items: items.length, failures } as const;
			const effects = this.note(loaded, items);
			if (!effects.some((effect) => effect.do === 'seek group')) continue;
			const isStarted = await hasExecution(this.n8n, executionKey(this.n8n, group), this.clock);
			if (signal.aborted) return;
			this.note({ ...loaded, isStarted }, items);
		}
	}

	/** The ledger with the groups that were read since. */
	private get current(): Ledger {
		return { ...this.ledger, open: this.position.open };
	}

	private checkStarts(): void {
		const { executionTimeout = 0 } = this.n8n.getWorkflowSettings();
		const timeout = executionTimeout > 0 ? executionTimeout * 1000 : undefined;
		// n8n would add an empty item to a probe, and the next nodes would run.
		this.note({ is: 'time', onWorkers: runsOnWorkers(), timeout, mayProbe: !this.n8n.getNode().alwaysOutputData });
	}

	/** Applies an event to the ledger, and does what that decides. @param items the items of the group that was loaded */
	private note(event: LedgerEvent, items: INodeExecutionData[] = []): LedgerEffect[] {
		const { current } = this;
		const { ledger, effects } = nextLedger(current, event, this.options, this.clock.now());
		if (ledger.open !== current.open) this.isStored = false;
		this.position.open = ledger.open;
		this.ledger = ledger;
		for (const effect of effects) this.do(effect, items);
		if (ledger.starts.size < current.starts.size) {
			if (this.signal.aborted) this.storeWhenIdle();
			this.onSettled();
		}
		return effects;
	}

	private do(effect: LedgerEffect, items: INodeExecutionData[]): void {
		const { n8n, clock } = this;
		const node = n8n.getNode();
		if (effect.do === 'emit') void this.emit(effect.group, items, effect.emission);
		if (effect.do === 'report set aside') n8n.saveFailedExecution(setAsideError(node, effect.group, effect.outcome));
		if (effect.do === 'report unread') reportFailure(n8n, unreadError(node, effect.group, effect.failures, effect.fate));
		if (effect.do === 'report silent') reportFailure(n8n, silentError(node, effect.group));
		if (effect.do === 'seek start') {
			const { name } = effect.group;
			void hasExecution(n8n, executionKey(n8n, effect.group), clock).then((exists) => this.note({ is: 'sought', name, exists }));
		}
		if (effect.do === 'probe') {
			const { emission } = effect;
			void runExecution(n8n, [], undefined, clock).then(({ outcome }) =>
				this.note(outcome === 'rejected by n8n' ? { is: 'probe failed' } : { is: 'probe ended', emission }));
		}
	}

	private async emit(group: Group, items: INodeExecutionData[], emission: number): Promise<void> {
		const { n8n, clock } = this;
		const { name } = group;
		const key = executionKey(n8n, group);
		this.isStored = true;
		// `emit` stores the position together with the group.
		this.putInStaticData();
		const { outcome, hasRun, untraced } = await runExecution(n8n, items, key, clock);
		const isAsked = untraced !== undefined && this.ledger.starts.get(name)?.last === emission;
		const traced = isAsked ? await tracedOutcome(n8n, key, untraced, clock) : outcome;
		this.note({ is: 'ended', name, emission, outcome: traced, hasRun });
	}

	/** Sets aside and reports open groups that only an earlier beginning could read, unless their execution exists and is enough. */
	private async setAbandonedAside(signal: AbortSignal): Promise<void> {
		const { n8n, position, clock, options } = this;
		const groups = position.open.filter((group) => isAbandoned(group, position) && !this.ledger.starts.has(group.name));
		if (groups.length === 0) return;
		const executed = await Promise.all(
			groups.map(async (group) => group.isEmitted === true && (await hasExecution(n8n, executionKey(n8n, group), clock))),
		);
		if (signal.aborted) return;
		const records = new Set(groups.flatMap((group, i) => (executed[i] && options.doneWhen !== 'succeeded' ? [] : memberRecords(group))));
		if (records.size > 0) reportFailure(n8n, abandonedError(n8n.getNode(), [...records]));
		this.note({ is: 'closed', names: groups.map(({ name }) => name) });
	}

	/** Has n8n store the position if nothing is under way; otherwise, the next start stores it. */
	storeWhenIdle(): void {
		if (this.ledger.starts.size === 0) this.store();
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
}

const full = `${maxOpen} executions are queued or wait for another attempt, so no more events are read until some of them finish. The CRM keeps the events.`;

/** Dispatchers of this process, so that a republished trigger knows its running executions. */
const dispatchers = new Map<string, Dispatcher>();

/** Milliseconds for which the process remembers a trigger that is not published. */
const maxIdleTime = 24 * 60 * 60_000;

/** Clears the memory of this process, as a restart would. */
export function forgetDispatchers(): void {
	for (const dispatcher of dispatchers.values()) dispatcher.stop();
	dispatchers.clear();
	forgetLooks();
	forgetN8n();
	forgetStates();
}

/** Continues where this process or the stored position stopped, whichever is newer. */
export async function openDispatcher(
	n8n: ITriggerFunctions,
	log: EventLog,
	options: DispatchOptions,
	beginning: Beginning,
	clock: Clock,
): Promise<Dispatcher> {
	for (const [dispatcherName, dispatcher] of dispatchers) {
		if (dispatcher.isIdleSince(clock.now() - maxIdleTime)) dispatchers.delete(dispatcherName);
	}
	const name = triggerKey(n8n);
	const existingDispatcher = dispatchers.get(name);
	const stored = storedPosition(n8n);
	const isCurrent = existingDispatcher !== undefined && (!stored || isNewestState(n8n, existingDispatcher.version));
	const { position, notice } = await openPosition(log, isCurrent ? existingDispatcher.position : stored, beginning, {
		isRestart: isStartedByN8n(n8n),
		now: clock.now(),
		hasStarted: async (event, read) =>
			await hasExecution(n8n, executionKey(n8n, groupOfEvents([event], read, beginning.choice.shape)), clock),
	});
	if (notice !== undefined) reportFailure(n8n, new NodeOperationError(n8n.getNode(), notice));

	existingDispatcher?.stop();
	const dispatcher = isCurrent ? existingDispatcher : new Dispatcher(n8n, position, options, clock);
	if (isCurrent) {
		const { open } = existingDispatcher.position;
		Object.assign(existingDispatcher.position, { backfill: undefined, newest: undefined, ...position, open });
		existingDispatcher.reopen(n8n, options);
	}
	dispatchers.set(name, dispatcher);
	// n8n stores the position at the end of the activation.
	dispatcher.putInStaticData({ isTakeover: true });
	return dispatcher;
}
