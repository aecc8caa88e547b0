import { type IDataObject, type ITriggerFunctions, type ITriggerResponse, NodeOperationError } from 'n8n-workflow';

import { unauthorized } from '../../api/http/statuses';
import { isAnsweredWith } from '../../api/record';
import { steady } from '../../base/clock';
import { namedRecords } from '../eventOutput';
import type { EventChoice } from '../eventProperties';
import { asNodeError, isStartedByN8n, reportFailure } from '../reportFailure';
import { forgetStates, isNewestState, maxTimeUnstored, type StateVersion, storeState, triggerKey } from '../storedState';
import { hasExecution, storeOnly } from '../unwritable';
import { executionKey, forgetN8n, runExecution, runsOnWorkers, tracedOutcome } from './execution';
import {
	isAbandoned, isBehind, isRunning, type Ledger, type LedgerEffect, type LedgerEvent, ledgerOf, maxOpen, nextDue, nextLedger, roomForGroups, startable,
} from './ledger';
import { loadGroup, type Loaded } from './loadGroup';
import { type Beginning, openPosition } from './openPosition';
import type { ChangeChoice } from './pollProperties';
import { type Group, groupOfEvents, maxLag, memberRecords, type Position, storedPosition } from './position';
import { forgetLooks, type Input, LogFollower, readBackfill, type ReadingDependencies } from './reading';
import type { RecordReader } from './records';
import { abandonedError, setAsideError, silentError, unreadError } from './reports';

/** The user's choices, read at a publish: n8n evaluates no expressions later. */
export interface TriggerChoice extends ChangeChoice {
	events: EventChoice;
	records?: RecordReader;
}

/** Milliseconds between two looks at the credential: n8n does not report that it was changed. */
const credentialInterval = 60_000;

/** Milliseconds for which the names of linked records are remembered. */
const maxNameAge = 60_000;

/** Milliseconds between two readings while the service fails. */
const maxPause = 5 * 60_000;

/**
 * Reads new groups, starts executions for them, and closes a group when its execution has reached the outcome that the user
 * chose: one opening of a trigger, until it is closed or opened again.
 *
 * Each start has a key that n8n keeps unique among its executions (`emit`, since n8n 2.20), so a group that is
 * started again after a crash starts nothing if its execution exists. n8n settles such a start with `undefined`
 * (2.41, trigger-execution-context.factory).
 */
export class Poller {
	readonly position: Position;
	/** Version of the position that this process has stored last: another process may have stored a newer one. */
	version: StateVersion = { takeover: 0, revision: 0 };
	ledger: Ledger;
	private readonly n8n: ITriggerFunctions;
	private readonly service: ReadingDependencies;
	private readonly choice: TriggerChoice;
	private readonly follower: LogFollower;
	/** Aborted when the trigger is closed, or opened again. */
	private readonly closing = new AbortController();
	/** Aborted when an execution has ended, or when the trigger is closed. */
	private awake = new AbortController();
	/** What was just read of groups that have not started yet, by the name of the group. */
	private readonly inputs = new Map<string, Input>();
	/** The connection by which names are read, and when it was first used (Unix epoch ms). */
	private names: { api: ReadingDependencies['api']; since: number };
	private isStored = true;
	private isReading = false;
	/** Whether n8n was asked what it has started before. */
	private isSought = false;
	private isFull = false;
	/** When to read next (Unix epoch ms). */
	private nextRead = -Infinity;
	private failures = 0;
	private closedAt = Infinity;
	/** When the credential was last looked at (Unix epoch ms). */
	private lookedAtCredential: number;
	/** When the position was last stored only because of the time (Unix epoch ms). */
	private storedAt: number;

	constructor(n8n: ITriggerFunctions, service: ReadingDependencies, choice: TriggerChoice, position: Position, ledger = ledgerOf([])) {
		const { api, clock } = service;
		this.n8n = n8n;
		this.service = service;
		this.choice = choice;
		this.position = position;
		this.ledger = ledger;
		this.follower = new LogFollower(service, choice.interval / 2);
		this.lookedAtCredential = clock.now();
		this.names = { api, since: -Infinity };
		// At the end of the activation n8n stores its own copy, which may overwrite the state of another trigger.
		this.storedAt = clock.now() - maxTimeUnstored + maxLag;
	}

	/** Starts nothing further; executions under way are still followed to their end. */
	stop(): void {
		this.closing.abort();
		this.awake.abort();
		this.closedAt = this.service.clock.now();
	}

	/** Stops, and stores the outcomes so far: the trigger continues when it is opened again. */
	close(): void {
		if (this.closing.signal.aborted) return;
		this.store();
		this.stop();
	}

	/** Whether nothing has been under way since this instant (Unix epoch ms). */
	isIdleSince = (instant: number): boolean => this.ledger.starts.size === 0 && this.closedAt < instant;

	/** @param reopen looks at the credential, and returns whether another opening has taken over because it was changed */
	async run(reopen: () => Promise<boolean>): Promise<void> {
		const { n8n, closing: { signal }, choice, service: { api, clock } } = this;
		while (!signal.aborted) {
			let wait = choice.interval;
			this.awake = new AbortController();
			try {
				if (clock.now() - this.lookedAtCredential >= credentialInterval) {
					if (await reopen()) return;
					this.lookedAtCredential = clock.now();
				}
				wait = await this.step();
				for (const message of api.notices) n8n.logger.warn(`${n8n.getNode().name}: ${message}`);
				api.notices.clear();
				this.failures = 0;
			} catch (error) {
				if (signal.aborted) return;
				const isRefused = isAnsweredWith(error, unauthorized);
				if (isRefused && (await reopen().catch(() => false))) return;
				// Reported once per outage; the position stays, so nothing is lost.
				if (this.failures === 0) reportFailure(n8n, asNodeError(n8n, error));
				this.failures += 1;
				wait = Math.min(choice.interval * 2 ** this.failures, maxPause);
				this.store();
			}
			if (!signal.aborted) await clock.sleep(wait, this.awake.signal).catch(() => undefined);
		}
	}

	/** @returns milliseconds to wait before the next step */
	private async step(): Promise<number> {
		const { choice, service: { clock } } = this;
		const begun = clock.now();
		// Starts come before reading, which takes time: a start also stores finished groups.
		await this.startDue();
		this.storeOutcomes();
		const isQuiet = await this.read();
		await this.startDue();
		if (isQuiet && this.ledger.starts.size === 0) this.store();
		const untilRead = this.roomForGroups() > 0 ? Math.max(0, this.nextRead - clock.now()) : choice.interval;
		return Math.min(untilRead, Math.max(0, nextDue(this.ledger, begun) - clock.now()));
	}

	/**
	 * Reads new groups if it is time to.
	 *
	 * @returns whether there are none
	 */
	private async read(): Promise<boolean> {
		const { n8n, position, inputs, closing: { signal }, choice: { records, groupSize, interval }, service: { clock } } = this;
		const { backfill } = position;
		const room = this.roomForGroups();
		if (backfill) this.nextRead = Math.max(this.nextRead, backfill.ready);
		if (signal.aborted || room <= 0 || clock.now() < this.nextRead) return false;
		this.isReading = true;
		const reading = backfill && records
			? readBackfill(records, position, backfill, groupSize)
			: this.follower.read(position, room * groupSize, groupSize);
		const { moved, groups, notice } = await reading.finally(() => (this.isReading = false));
		if (signal.aborted) return false;
		if (notice !== undefined) reportFailure(n8n, new NodeOperationError(n8n.getNode(), notice));
		// A new beginning or scope may re-read open groups.
		const isOpen = new Set(position.open.map(({ name }) => name));
		const opened = groups.filter(({ group }) => !isOpen.has(group.name));
		Object.assign(position, moved);
		position.open.push(...opened.map(({ group }) => group));
		for (const { group, input } of opened) inputs.set(group.name, input);
		for (const name of inputs.keys()) if (!position.open.some((group) => group.name === name)) inputs.delete(name);
		const hasMore = backfill !== undefined || opened.length >= room;
		// All triggers with this interval look at the same time.
		this.nextRead = hasMore ? -Infinity : clock.now() + interval - (clock.now() % interval);
		// A stored position must never look older than the service's log.
		const isOld = clock.now() - this.storedAt > maxTimeUnstored;
		if (isOld) this.storedAt = clock.now();
		if (isOld || opened.length > 0) this.isStored = false;
		return opened.length === 0;
	}

	/** How many groups may be opened now. */
	roomForGroups(): number {
		const { n8n, position: { open }, isFull, choice, service: { clock } } = this;
		this.isFull = open.length >= maxOpen;
		if (this.isFull && !isFull) n8n.logger.warn(`${n8n.getNode().name}: ${full}`);
		return roomForGroups(open.length, startable(this.current, clock.now()).length, choice.groupSize);
	}

	/** Starts every group that is due, in order, while there are free slots. */
	async startDue(): Promise<void> {
		const { n8n, position, closing: { signal }, choice: { atOnce, doneWhen }, service: { clock } } = this;
		if (!this.isSought) await this.findStarted();
		if (signal.aborted) return;
		const { executionTimeout = 0 } = n8n.getWorkflowSettings();
		const timeout = executionTimeout > 0 ? executionTimeout * 1000 : undefined;
		// n8n would add an empty item to a probe, and the next nodes would run.
		this.note({ is: 'time', onWorkers: runsOnWorkers(), timeout, mayProbe: !n8n.getNode().alwaysOutputData });
		this.setAbandonedAside();
		for (const group of startable(this.current, clock.now())) {
			const running = position.open.filter(({ name }) => isRunning(this.ledger, name)).length;
			if (signal.aborted || running >= atOnce) return;
			if (doneWhen === 'ended' && isBehind(group, this.current)) return;
			const { items, failures } = await this.load(group);
			// If the trigger was published again meanwhile, it may have started the group already.
			if (signal.aborted) return;
			this.note({ is: 'loaded', name: group.name, items: items.length, failures }, items);
		}
	}

	private async load(group: Group): Promise<Loaded> {
		const { inputs, service: { api, log, clock }, choice: { records, events: { output } } } = this;
		const tries = this.ledger.waits.get(group.name)?.failedReadings ?? 0;
		const { items, failures } = await loadGroup(group, { api, log, records, output, tries, input: inputs.get(group.name) });
		if (failures.length === 0) inputs.delete(group.name);
		// A connection remembers names, which may change.
		if (clock.now() - this.names.since > maxNameAge) this.names = { api: { ...api }, since: clock.now() };
		return { items: await namedRecords(this.names.api, items, output.names, records?.options.recordType), failures };
	}

	/** Asks n8n for the executions of groups that were under way when n8n was killed: what they need may no longer be readable. */
	private async findStarted(): Promise<void> {
		const { n8n, position, ledger, service: { clock } } = this;
		const groups = position.open.filter(({ name, isEmitted }) => isEmitted === true && !ledger.starts.has(name));
		const isFound = await Promise.all(groups.map(async (group) => await hasExecution(n8n, executionKey(n8n, group), clock)));
		if (this.closing.signal.aborted) return;
		this.isSought = true;
		this.note({ is: 'found', names: groups.filter((_, i) => isFound[i]).map(({ name }) => name) });
	}

	/** Sets aside and reports open groups that only an earlier beginning could read. */
	private setAbandonedAside(): void {
		const { n8n, position, ledger } = this;
		const groups = position.open.filter((group) => isAbandoned(group, position) && !ledger.starts.has(group.name));
		if (groups.length === 0) return;
		reportFailure(n8n, abandonedError(n8n.getNode(), [...new Set(groups.flatMap(memberRecords))]));
		this.note({ is: 'closed', names: groups.map(({ name }) => name) });
	}

	/** The ledger with the groups that were read since. */
	private get current(): Ledger {
		return { ...this.ledger, open: this.position.open };
	}

	/** Applies an event to the ledger, and does what that decides. @param items the items of the group that was loaded */
	private note(event: LedgerEvent, items: IDataObject[] = []): void {
		const { current } = this;
		const { ledger, effects } = nextLedger(current, event, this.choice, this.service.clock.now());
		if (ledger.open !== current.open) this.isStored = false;
		this.position.open = ledger.open;
		this.ledger = ledger;
		for (const effect of effects) this.do(effect, items);
		if (ledger.starts.size < current.starts.size) {
			if (this.closing.signal.aborted && ledger.starts.size === 0) this.store();
			// Reading may wait for the rate limit, and an outcome not yet stored is lost if n8n is killed.
			if (this.isReading) this.storeOutcomes();
			this.awake.abort();
		}
	}

	/** The opening that notes what n8n answers: meanwhile, the trigger may have been opened again. */
	private get latest(): Poller {
		return pollers.get(triggerKey(this.n8n)) ?? this;
	}

	private do(effect: LedgerEffect, items: IDataObject[]): void {
		const { n8n, service: { clock } } = this;
		const node = n8n.getNode();
		if (effect.do === 'emit') void this.emit(effect.group, items, effect.emission);
		if (effect.do === 'report set aside') n8n.saveFailedExecution(setAsideError(node, effect.group, effect.outcome));
		if (effect.do === 'report unread') reportFailure(n8n, unreadError(node, effect.group, effect.failures, effect.fate));
		if (effect.do === 'report silent') reportFailure(n8n, silentError(node, effect.group));
		if (effect.do === 'seek') {
			const { name } = effect.group;
			void hasExecution(n8n, executionKey(n8n, effect.group), clock).then((exists) => this.latest.note({ is: 'sought', name, exists }));
		}
		if (effect.do === 'probe') {
			const { emission } = effect;
			void runExecution(n8n, [], undefined, clock).then(({ outcome }) =>
				this.latest.note(outcome === 'rejected by n8n' ? { is: 'probe failed' } : { is: 'probe ended', emission }));
		}
	}

	private async emit(group: Group, items: IDataObject[], emission: number): Promise<void> {
		const { n8n, service: { clock } } = this;
		const { name } = group;
		const key = executionKey(n8n, group);
		this.isStored = true;
		// `emit` stores the position together with the group.
		this.putInStaticData();
		const { outcome, hasRun, untraced } = await runExecution(n8n, items, key, clock);
		const isAsked = untraced !== undefined && this.latest.ledger.starts.get(name)?.last === emission;
		const traced = isAsked ? await tracedOutcome(n8n, key, untraced, clock) : outcome;
		this.latest.note({ is: 'ended', name, emission, outcome: traced, hasRun });
	}

	/** Has n8n store the position without starting anything, unless it has stored it already. */
	private store(): void {
		if (this.isStored) return;
		this.isStored = true;
		this.putInStaticData();
		storeOnly(this.n8n, () => (this.isStored = false));
	}

	private storeOutcomes(): void {
		if (this.choice.doneWhen === 'succeeded' && !this.closing.signal.aborted) this.store();
	}

	/** Puts the position where n8n stores it: with the next `emit`, and after activation. */
	putInStaticData(options?: { isTakeover: boolean }): void {
		this.version = storeState(this.n8n, this.position, options);
	}
}

const full = `${maxOpen} executions are queued or wait for another attempt, so no more events are read until some of them finish. The CRM keeps the events.`;

/** The latest opening of each trigger of this process, which knows its running executions. */
const pollers = new Map<string, Poller>();

/** Milliseconds for which the process remembers a trigger that is not published. */
const maxIdleTime = 24 * 60 * 60_000;

/** Clears the memory of this process, as a restart would. */
export function forgetPollers(): void {
	for (const poller of pollers.values()) poller.stop();
	pollers.clear();
	forgetLooks();
	forgetN8n();
	forgetStates();
}

/**
 * Polls until the trigger is closed: from where this process or the stored position stopped, whichever is newer.
 *
 * @param reopen looks at the credential, and returns whether another opening has taken over because it was changed
 */
export async function startPolling(
	n8n: ITriggerFunctions,
	{ api, log, clock: n8nClock }: ReadingDependencies,
	choice: TriggerChoice,
	reopen = async () => await Promise.resolve(false),
): Promise<ITriggerResponse> {
	const clock = steady(n8nClock);
	for (const [name, poller] of pollers) if (poller.isIdleSince(clock.now() - maxIdleTime)) pollers.delete(name);
	const stored = storedPosition(n8n);
	const existing = pollers.get(triggerKey(n8n));
	const previous = existing && (!stored || isNewestState(n8n, existing.version)) ? existing : undefined;
	const beginning = beginningOf(choice);
	const { position, notice } = await openPosition(log, previous?.position ?? stored, beginning, {
		isRestart: isStartedByN8n(n8n),
		now: clock.now(),
		hasStarted: async (event, read) =>
			await hasExecution(n8n, executionKey(n8n, groupOfEvents([event], read)), clock),
	});
	if (notice !== undefined) reportFailure(n8n, new NodeOperationError(n8n.getNode(), notice));
	existing?.stop();
	const { open } = previous?.position ?? position;
	const poller = new Poller(n8n, { api, log, clock }, choice, { ...position, open }, previous?.ledger);
	pollers.set(triggerKey(n8n), poller);
	// n8n stores the position at the end of the activation.
	poller.putInStaticData({ isTakeover: true });
	void poller.run(reopen);
	return { closeFunction: async () => poller.close() };
}

function beginningOf({ events: { events, filter }, records, start, since }: TriggerChoice): Beginning {
	const choice = { events, filter };
	// Switching to other records, or to events, starts over.
	if (!records) return { choice, start, since };
	const { path, entered, filters: queries } = records.options;
	return { choice, start: `records ${path}`, since: '', scope: JSON.stringify([path, queries]), filters: { entered, queries } };
}
