import type { ITriggerFunctions, ITriggerResponse } from 'n8n-workflow';

import { unauthorized } from '../../api/http/statuses';
import { isAnsweredWith } from '../../api/record';
import { steady } from '../../base/clock';
import { RecentMap } from '../../base/maps';
import { asNodeError, reportFailure } from '../reportFailure';
import { forgetStates, isNewestState, maxTimeUnstored, type StateVersion, storeState, triggerKey } from '../storedState';
import { hasExecution, storeOnly } from '../unwritable';
import { executionKey, forgetN8n, runExecution, runsOnWorkers, tracedOutcome } from './execution';
import {
	isRunning, type Ledger, type LedgerEffect, type LedgerEvent, ledgerOf, maxOpen, nextDue, nextLedger, openGroup, roomForGroups, startable,
} from './ledger';
import { loadGroup } from './loadGroup';
import { openPosition } from './openPosition';
import type { PollChoice } from './pollProperties';
import { maxLag, type Position, storedPosition } from './position';
import { forgetLooks, LogFollower, readBackfill, type ReadingDependencies } from './reading';
import { report } from './reports';

/** What a trigger reads by a credential. */
interface Opening {
	service: ReadingDependencies;
	choice: PollChoice;
}

/** Looks at the credential; undefined unless it was changed. */
type Renew = (current: ReadingDependencies['api']) => Promise<Opening | undefined>;

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
	/** Version of the position that this process has stored last: another process may have stored a newer one. */
	version: StateVersion = { takeover: 0, revision: 0 };
	position: Position;
	ledger: Ledger;
	private readonly n8n: ITriggerFunctions;
	private service: ReadingDependencies;
	private choice: PollChoice;
	private follower: LogFollower;
	/** Aborted when the trigger is closed, or opened again. */
	private readonly closing = new AbortController();
	/** Aborted when an execution has ended, or when the trigger is closed. */
	private awake = new AbortController();
	/** The connection by which names are looked up and remembered, and when it was first used (Unix epoch ms). */
	private names: { api: ReadingDependencies['api']; since: number } | undefined;
	private isStored = true;
	private isReading = false;
	private isFull = false;
	/** When to read next (Unix epoch ms). */
	private nextRead = -Infinity;
	private failures = 0;
	/** When the credential was last looked at (Unix epoch ms). */
	private lookedAtCredential: number;
	/** When the position was last stored only because of the time (Unix epoch ms). */
	private storedAt: number;

	constructor(n8n: ITriggerFunctions, { service, choice }: Opening, position: Position, ledger: Ledger) {
		const now = service.clock.now();
		this.n8n = n8n;
		this.service = service;
		this.choice = choice;
		this.position = position;
		this.ledger = withoutInputs(ledger);
		this.follower = new LogFollower(service, choice.interval / 2);
		this.lookedAtCredential = now;
		// At the end of the activation n8n stores its own copy, which may overwrite the state of another trigger.
		this.storedAt = now - maxTimeUnstored + maxLag;
	}

	/** Starts nothing further; executions under way are still followed to their end. */
	stop(): void {
		this.closing.abort();
		this.awake.abort();
	}

	/** Stops, and stores the outcomes so far: the trigger continues when it is opened again. */
	close(): void {
		if (this.closing.signal.aborted) return;
		this.store();
		this.stop();
	}

	async run(renew: Renew): Promise<void> {
		const { closing: { signal }, service: { clock } } = this;
		await this.findStarted();
		while (!signal.aborted) {
			this.awake = new AbortController();
			const wait = await this.round(renew).catch(async (error: unknown) => await this.fail(error, renew));
			if (!signal.aborted) await clock.sleep(wait, this.awake.signal).catch(() => undefined);
		}
	}

	/** Asks n8n for the executions of groups that were under way when n8n was killed: what they need may no longer be readable. */
	private async findStarted(): Promise<void> {
		const { n8n, ledger, service: { clock } } = this;
		const groups = ledger.open.flatMap(({ group, execution }) => (group.isEmitted && !execution ? [group] : []));
		const isFound = await Promise.all(groups.map(async (group) => await hasExecution(n8n, executionKey(n8n, group), clock)));
		if (this.closing.signal.aborted) return;
		for (const [i, { name }] of groups.entries()) this.note({ is: 'sought', name, exists: isFound[i]! });
	}

	/** @returns milliseconds until the next round */
	private async round(renew: Renew): Promise<number> {
		const { n8n, service: { clock } } = this;
		if (clock.now() - this.lookedAtCredential >= credentialInterval) await this.renew(renew);
		const begun = clock.now();
		// Starts come before reading, which takes time: a start also stores finished groups.
		await this.startDue();
		this.storeOutcomes();
		const isQuiet = await this.read();
		await this.startDue();
		if (isQuiet && countUnderWay(this.ledger) === 0) this.store();
		for (const message of this.service.api.notices) n8n.logger.warn(`${n8n.getNode().name}: ${message}`);
		this.service.api.notices.clear();
		this.failures = 0;
		const { groupSize, interval } = this.choice;
		const now = clock.now();
		const nextRead = roomForGroups(this.ledger, now, groupSize) > 0 ? this.nextRead : now + interval;
		return Math.max(0, Math.min(nextRead, nextDue(this.ledger, begun)) - now);
	}

	/**
	 * Reports the failure of a round, once per outage. The position stays, so nothing is lost.
	 *
	 * @returns milliseconds until the next round
	 */
	private async fail(error: unknown, renew: Renew): Promise<number> {
		if (this.closing.signal.aborted) return 0;
		if (isAnsweredWith(error, unauthorized) && (await this.renew(renew).catch(() => false))) return 0;
		if (this.failures === 0) reportFailure(this.n8n, asNodeError(this.n8n, error));
		this.failures += 1;
		this.store();
		return Math.min(this.choice.interval * 2 ** this.failures, maxPause);
	}

	/** Continues with the credential, if it was changed, in the log of its account. @returns whether it was */
	private async renew(renew: Renew): Promise<boolean> {
		const { n8n, closing: { signal }, service: { api, clock } } = this;
		const renewed = await renew(api);
		if (signal.aborted) return false;
		const position = renewed && (await openPosition(n8n, { ...renewed.service, clock }, renewed.choice, this.position));
		// A changed credential that cannot read the log is looked at again in each round: the failure lasts.
		this.lookedAtCredential = clock.now();
		if (!renewed || !position || signal.aborted) return false;
		const { service, choice } = renewed;
		this.service = { ...service, clock };
		this.choice = choice;
		this.position = position;
		this.ledger = withoutInputs(this.ledger);
		this.follower = new LogFollower(this.service, choice.interval / 2);
		this.names = undefined;
		this.nextRead = -Infinity;
		this.isStored = false;
		return true;
	}

	/**
	 * Reads new groups if it is time to.
	 *
	 * @returns whether there are none
	 */
	private async read(): Promise<boolean> {
		const { n8n, position, closing: { signal }, choice: { records, groupSize, interval }, service: { clock } } = this;
		const { backfill } = position;
		const room = roomForGroups(this.ledger, clock.now(), groupSize);
		if (backfill) this.nextRead = Math.max(this.nextRead, backfill.ready);
		if (signal.aborted || room <= 0 || clock.now() < this.nextRead) return false;
		this.isReading = true;
		const reading = backfill && records
			? readBackfill(records, position, backfill, groupSize)
			: this.follower.read(position, room * groupSize, groupSize);
		const { moved, groups, notice } = await reading.finally(() => (this.isReading = false));
		if (signal.aborted) return false;
		if (notice !== undefined) report(n8n, { message: notice });
		const { open } = this.ledger;
		// A new beginning or scope may re-read open groups.
		const isOpen = new Set(open.map(({ group }) => group.name));
		const opened = groups.filter(({ group }) => !isOpen.has(group.name));
		this.position = { ...position, ...moved };
		this.ledger = { ...this.ledger, open: [...open, ...opened.map(({ group, input }) => openGroup(group, { input }))] };
		const hasMore = backfill !== undefined || opened.length >= room;
		// All triggers with this interval look at the same time.
		this.nextRead = hasMore ? -Infinity : clock.now() + interval - (clock.now() % interval);
		// A stored position must never look older than the service's log.
		const isOld = clock.now() - this.storedAt > maxTimeUnstored;
		if (isOld) this.storedAt = clock.now();
		if (isOld || opened.length > 0) this.isStored = false;
		return opened.length === 0;
	}

	/** Starts every group that is due, in order, while there are free slots. */
	async startDue(): Promise<void> {
		const { n8n, closing: { signal }, choice: { atOnce, doneWhen, records, events: { output } }, service: { api, log, clock } } = this;
		if (signal.aborted) return;
		const isFull = this.ledger.open.length >= maxOpen;
		if (isFull && !this.isFull) n8n.logger.warn(`${n8n.getNode().name}: ${full}`);
		this.isFull = isFull;
		const { executionTimeout = 0 } = n8n.getWorkflowSettings();
		const timeout = executionTimeout > 0 ? executionTimeout * 1000 : Infinity;
		// n8n would add an empty item to a probe, and the next nodes would run.
		const mayProbe = !n8n.getNode().alwaysOutputData;
		this.note({ is: 'time', onWorkers: runsOnWorkers(), timeout, mayProbe, beginning: this.position.start });
		const begun = clock.now();
		for (;;) {
			const [next] = startable(this.ledger, begun, doneWhen === 'ended');
			if (!next || signal.aborted || this.ledger.open.filter(isRunning).length >= atOnce) return;
			// A connection remembers names, which may change.
			if (!this.names || clock.now() - this.names.since > maxNameAge) this.names = { api: { ...api }, since: clock.now() };
			const { items, failures } = await loadGroup(next, { api, names: this.names.api, log, records, output });
			// If the trigger was published again meanwhile, it may have started the group already.
			if (signal.aborted) return;
			this.note({ is: 'loaded', name: next.group.name, items, failures });
		}
	}

	/** Applies an event to the ledger, and does what that decides. */
	private note(event: LedgerEvent): void {
		const { n8n, ledger: before, service: { clock } } = this;
		const { ledger, isChanged, effects } = nextLedger(before, event, this.choice, clock.now());
		this.ledger = ledger;
		if (isChanged) this.isStored = false;
		for (const effect of effects) {
			if (effect.do === 'emit') void this.emit(effect);
			else if (effect.do === 'report') report(n8n, effect.report);
			else if (effect.do === 'seek') {
				const { group } = effect;
				void hasExecution(n8n, executionKey(n8n, group), clock).then((exists) => this.latest.note({ is: 'sought', name: group.name, exists }));
			} else {
				void runExecution(n8n, [], undefined, clock).then(({ outcome }) =>
					this.latest.note({ is: 'probed', emission: effect.emission, wasStarted: outcome !== 'rejected by n8n' }));
			}
		}
		if (countUnderWay(ledger) < countUnderWay(before)) {
			// Reading may wait for the rate limit, and an outcome not yet stored is lost if n8n is killed.
			if (this.isReading) this.storeOutcomes();
			if (this.closing.signal.aborted && countUnderWay(ledger) === 0) this.store();
			this.awake.abort();
		}
	}

	/** The opening that notes what n8n answers: meanwhile, the trigger may have been opened again. */
	private get latest(): Poller {
		return pollers.get(triggerKey(this.n8n)) ?? this;
	}

	private async emit({ group, items, emission }: Extract<LedgerEffect, { do: 'emit' }>): Promise<void> {
		const { n8n, service: { clock } } = this;
		const { name } = group;
		const key = executionKey(n8n, group);
		this.isStored = true;
		// `emit` stores the position together with the group.
		this.putInStaticData();
		const { outcome, hasRun, untraced } = await runExecution(n8n, items, key, clock);
		const isAsked = untraced !== undefined && this.latest.ledger.open.some((entry) => entry.group.name === name && entry.execution?.last === emission);
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
		this.version = storeState(this.n8n, { ...this.position, open: this.ledger.open.map(({ group }) => group) }, options);
	}
}

const countUnderWay = ({ open }: Ledger): number => open.filter(({ execution }) => execution).length;

/** What was read for an earlier choice may lack fields of the current one. */
const withoutInputs = (ledger: Ledger): Ledger => ({ ...ledger, open: ledger.open.map((entry) => ({ ...entry, input: undefined })) });

const full = `${maxOpen} executions are queued or wait for another attempt, so no more events are read until some of them finish. The CRM keeps the events.`;

/** The latest opening of each trigger of this process, which knows its running executions. */
let pollers = new RecentMap<string, Poller>(10_000);

/** Clears the memory of this process, as a restart would. */
export function forgetPollers(): void {
	for (const poller of pollers.values()) poller.stop();
	pollers = new RecentMap(10_000);
	forgetLooks();
	forgetN8n();
	forgetStates();
}

/**
 * Polls until the trigger is closed: from where this process or the stored position stopped, whichever is newer.
 *
 * @param renew looks at the credential; undefined unless it was changed
 */
export async function startPolling(
	n8n: ITriggerFunctions,
	{ clock, ...reading }: ReadingDependencies,
	choice: PollChoice,
	renew: Renew = async () => await Promise.resolve(undefined),
): Promise<ITriggerResponse> {
	const opening = { service: { ...reading, clock: steady(clock) }, choice };
	const stored = storedPosition(n8n);
	const existing = pollers.get(triggerKey(n8n));
	const previous = existing && (!stored || isNewestState(n8n, existing.version)) ? existing : undefined;
	const position = await openPosition(n8n, opening.service, choice, previous?.position ?? stored);
	existing?.stop();
	const poller = new Poller(n8n, opening, position, previous?.ledger ?? ledgerOf(stored?.open ?? []));
	pollers.set(triggerKey(n8n), poller);
	// n8n stores the position at the end of the activation.
	poller.putInStaticData({ isTakeover: true });
	void poller.run(renew);
	return { closeFunction: async () => poller.close() };
}
