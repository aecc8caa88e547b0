import { type INodeExecutionData, type ITriggerFunctions, type ITriggerResponse, NodeOperationError } from 'n8n-workflow';

import { connect } from '../../api/connection';
import { inParallel } from '../../api/inParallel';
import { steady, systemClock } from '../../base/clock';
import { RecentMap } from '../../base/maps';
import { processMemory } from '../../base/processMemory';
import { eventOutput, withNamesOfLinks } from '../eventOutput';
import { isNewestState, serialized, triggerKey, maxTimeUnstored, type StateVersion, storeOnly, storeState } from '../storedState';
import { asNodeError, isStartedByN8n, reportFailure, sendReport } from '../triggerContext';
import { GroupReader, type GroupReading } from './groupReader';
import {
	ledgerOf, abandonGroups, afterLoading, type Decided, entryNamed, entryOf, isUnderWay, type Ledger, type LedgerEffect,
	type LedgerEntry, nextDue, startable, type Group,
} from './ledger';
import { groupLoader } from './loading';
import { existenceOf, runExecution, runsOnWorkers } from './n8nExecutions';
import { afterAnswer, afterEnd, afterProbe, afterTime, nextCheck, type OutcomeSettings } from './outcomes';
import { type Access, openAccess, type PublishedTrigger, readSettings } from './pollSettings';
import { latestChosen, storedPosition, maxLag, type Position } from './position';
import { resumeOrBegin } from './resumeOrBegin';

const reportedStarts = processMemory(new RecentMap<string, true>(10_000));

/**
 * Polls from the stored position on. A manual run returns the latest events or records, and leaves the position alone.
 *
 * @throws NodeApiError or NodeOperationError in the user's words, which makes the publish fail
 */
export async function startPollTrigger(n8n: ITriggerFunctions, clock = systemClock): Promise<ITriggerResponse> {
	try {
		const api = await connect(n8n, clock);
		const trigger = { n8n, clock, settings: await readSettings(n8n, api) };
		const access = await openAccess(trigger, api);
		if (n8n.getMode() === 'manual') return { manualTriggerFunction: async () => n8n.emit([await testItems(trigger, access)]) };
		// Before n8n 2.20, `emit` takes no key, so that a crash would start events twice.
		if (n8n.emit.length < 4) throw new Error(tooOld);
		const response = await startPolling(trigger, access);
		reportedStarts.delete(triggerKey(n8n));
		return response;
	} catch (error) {
		const nodeError = asNodeError(n8n, error);
		// n8n shows a failed publish to the user, but not a failed start of its own, which it repeats.
		if (isStartedByN8n(n8n) && !reportedStarts.get(triggerKey(n8n))) {
			reportedStarts.set(triggerKey(n8n), true);
			reportFailure(n8n, nodeError);
		}
		throw nodeError;
	}
}

const tooOld = 'This n8n is too old for the CRM Platform Poll Trigger, which needs n8n 2.20 or newer. Update n8n, then try again.';

/** Number of events or records that a test shows. */
const maxShown = 5;

/** The latest events in sequence, or the newest records. @throws NodeOperationError if there are none */
async function testItems({ n8n, settings }: PublishedTrigger, { api, log, records }: Access): Promise<INodeExecutionData[]> {
	const { output } = settings.events;
	const events = records ? [] : (await latestChosen(log, settings.events, maxShown)).reverse();
	const items = records ? await records.latest(maxShown) : await inParallel(events, async (event) => await eventOutput(event, output, api));
	const found = await withNamesOfLinks(api, items, output.names, records?.scope.template);
	if (found.length > 0) return found.map((json) => ({ json }));
	if (records) throw new NodeOperationError(n8n.getNode(), 'No record matches');
	throw new NodeOperationError(n8n.getNode(), 'None of the latest events matches', {
		description:
			'The trigger will still work once the workflow is published. To see an event here, make a matching change in the CRM, then test again.',
	});
}

class PollerMap extends RecentMap<string, Poller> {
	override clear(): void {
		for (const poller of this.values()) poller.stop();
		super.clear();
	}
}

/** The latest poller of each trigger: n8n starts a trigger anew with each publish, and only this process knows its running executions. */
const pollers = processMemory(new PollerMap(10_000));

/** Polls from where this process or the stored position stopped, whichever is newer. */
export async function startPolling(published: PublishedTrigger, access: Access): Promise<ITriggerResponse> {
	const { n8n } = published;
	return await serialized(n8n, async () => {
		const trigger = { ...published, clock: steady(published.clock) };
		const key = triggerKey(n8n);
		const previous = pollers.get(key);
		// n8n may not have closed it, and what it read from now on would be read again.
		previous?.stop();
		const stored = storedPosition(n8n);
		const latest = previous && (!stored || isNewestState(n8n, previous.progress.version)) ? previous.progress : undefined;
		const position = await resumeOrBegin(trigger, access.log, latest?.position ?? stored);
		const progress = new Progress(n8n, position, latest?.ledger ?? ledgerOf(stored?.open ?? []), trigger.clock.now());
		const poller = new Poller(trigger, access, progress);
		if (previous) previous.successor = poller;
		pollers.set(key, poller);
		// n8n stores the position at the end of the activation.
		progress.put({ isTakeover: true });
		void poller.run();
		return { closeFunction: async () => poller.close() };
	});
}

/** Maximum milliseconds between two rounds while the service fails. */
const maxPause = 5 * 60_000;

/**
 * Reads new groups and starts executions for them, in rounds, until the trigger is closed or published again.
 *
 * Each start has a key that n8n keeps unique among its executions (`emit`, since n8n 2.20), so a group started again after a crash starts
 * nothing if its execution exists. n8n settles such a start with `undefined` (2.41, trigger-execution-context.factory).
 */
export class Poller {
	readonly progress: Progress;
	/** The poller of the trigger once it is published again: it follows what this one has started, too. */
	successor: Poller | undefined;
	private readonly trigger: PublishedTrigger;
	/** They read with the credential that was last seen. */
	private reader: GroupReader;
	private load: ReturnType<typeof groupLoader>;
	private isReading = false;
	/** Aborted when the trigger is closed, or published again. */
	private readonly closing = new AbortController();
	/** Aborted when an execution has ended, or when the trigger is closed. */
	private awake = new AbortController();
	/** When the credential was last read (Unix epoch ms). */
	private renewedAt = -Infinity;
	/** Number of rounds that have failed since the last that has not. */
	private failures = 0;

	constructor(trigger: PublishedTrigger, access: Access, progress: Progress) {
		this.trigger = trigger;
		this.progress = progress;
		this.reader = new GroupReader(access, trigger);
		this.load = groupLoader(access, trigger);
	}

	/** Starts nothing further; executions under way are still followed to their end. */
	stop(): void {
		this.closing.abort();
		this.awake.abort();
	}

	/** Stops, and stores the outcomes so far: the trigger continues when it is published again. */
	close(): void {
		if (this.closing.signal.aborted) return;
		this.progress.store();
		this.stop();
	}

	async run(): Promise<void> {
		// What groups that were under way when n8n was killed need may no longer be readable.
		const started = this.progress.ledger.entries.filter(({ group, execution }) => group.possibleExecution === 'ofStart' && !execution);
		await Promise.all(started.map(async ({ group }) => await this.ask(group))).catch((error: unknown) => this.fail(error));
		while (!this.closing.signal.aborted) {
			this.awake = new AbortController();
			const wait = await this.round().catch((error: unknown) => this.fail(error));
			await this.trigger.clock.sleep(wait, this.awake.signal).catch(() => undefined);
		}
	}

	/** @returns milliseconds until the next round */
	private async round(): Promise<number> {
		const { trigger: { n8n, clock, settings }, progress } = this;
		// Each reading has the current credential; the end of each execution also causes a round.
		if (clock.now() - this.renewedAt >= settings.interval / 2) await this.renewCredential();
		const roundAt = clock.now();
		// Starts come before reading, which takes time.
		await this.startDue();
		if (this.reader.nextReading(progress) <= clock.now()) {
			this.isReading = true;
			const reading = await this.unlessClosed(this.reader.read(progress)).finally(() => (this.isReading = false));
			if (reading.notice !== undefined) sendReport(n8n, { message: reading.notice });
			progress.add(reading, clock.now());
			await this.startDue();
		}
		const { notices } = this.reader.access.api;
		for (const message of notices) n8n.logger.warn(`${n8n.getNode().name}: ${message}`);
		notices.clear();
		this.failures = 0;
		const { ledger } = progress;
		const next = Math.min(this.reader.nextReading(progress), nextDue(ledger.entries, roundAt), nextCheck(ledger, runsOnWorkers(), roundAt));
		return Math.max(0, next - clock.now());
	}

	/** Reports the failure of a round, once per outage. The position stays, so nothing is lost. @returns as `round` */
	private fail(error: unknown): number {
		const { n8n, settings: { interval } } = this.trigger;
		if (this.closing.signal.aborted) return 0;
		if (this.failures === 0) reportFailure(n8n, asNodeError(n8n, error));
		this.failures += 1;
		this.progress.store();
		return Math.min(interval * 2 ** this.failures, maxPause);
	}

	/** @throws the reason of the abort, which ends the round, if the trigger was closed or published again meanwhile: the latest poller does the rest */
	private async unlessClosed<Value>(work: Promise<Value>): Promise<Value> {
		const value = await work;
		this.closing.signal.throwIfAborted();
		return value;
	}

	/** Continues with the credential, if it was changed, in the log of its account: n8n does not report a change. */
	private async renewCredential(): Promise<void> {
		const { trigger, progress } = this;
		const access = await this.unlessClosed(this.reader.access.renew());
		const position = access && (await this.unlessClosed(resumeOrBegin(trigger, access.log, progress.position)));
		// A changed credential that cannot read the log is read again in each round: the failure lasts.
		this.renewedAt = trigger.clock.now();
		if (!position) return;
		progress.moveTo(position);
		this.reader = new GroupReader(access, trigger);
		this.load = groupLoader(access, trigger);
	}

	/** Starts every group that is due, in order, while there are free slots, and stores what has ended since the last start. */
	async startDue(): Promise<void> {
		const { trigger: { n8n, clock, settings: { atOnce, doneWhen } }, progress } = this;
		const { executionTimeout = 0 } = n8n.getWorkflowSettings();
		const timeout = executionTimeout > 0 ? executionTimeout * 1000 : Infinity;
		// n8n would add an empty item to a probe, and the next nodes would run.
		const mayProbe = !n8n.getNode().alwaysOutputData;
		// What becomes due meanwhile waits for the next round: loading may take long.
		const now = clock.now();
		for (;;) {
			this.follow(afterTime(progress.ledger, { onWorkers: runsOnWorkers(), timeout, mayProbe }, this.rules));
			this.follow(abandonGroups(progress.ledger, progress.position));
			const [next] = startable(progress.ledger.entries, now, doneWhen === 'ended');
			if (!next || progress.ledger.entries.filter(isUnderWay).length >= atOnce) break;
			const loaded = await this.unlessClosed(this.load(next));
			this.follow(afterLoading(progress.ledger, next.group.name, loaded, clock.now()));
		}
		progress.store();
	}

	private get rules(): OutcomeSettings {
		return { ...this.trigger.settings, now: this.trigger.clock.now() };
	}

	private follow({ effects = [], ...ledger }: Decided): void {
		this.progress.ledger = ledger;
		for (const effect of effects) {
			if (effect.do === 'start') void this.start(effect);
			else if (effect.do === 'ask') void this.ask(effect.group, effect.mayProbe);
			else if (effect.do === 'probe') void this.probe(effect.startNumber);
			else sendReport(this.trigger.n8n, effect.report);
		}
	}

	private async start({ group, items, startNumber }: Extract<LedgerEffect, { do: 'start' }>): Promise<void> {
		// `emit` stores the position together with the group.
		this.progress.put();
		const isAwaited = () => entryNamed(this.latest.progress.ledger, group.name)?.execution?.lastStartNumber === startNumber;
		const end = await runExecution(this.trigger, items, group, isAwaited);
		this.settle((ledger, rules) => afterEnd(ledger, group.name, startNumber, end, rules));
		const { latest } = this;
		// The next round stores this, often with a start. It may have to wait for reading, and thus for the rate limit.
		if (latest.isReading || latest.closing.signal.aborted) latest.progress.store();
		latest.awake.abort();
	}

	private async ask(group: Group, mayProbe = false): Promise<void> {
		const existence = await existenceOf(this.trigger, group);
		this.settle((ledger, rules) => afterAnswer(ledger, group.name, existence, mayProbe, rules));
	}

	private async probe(startNumber: number): Promise<void> {
		const { outcome } = await runExecution(this.trigger, []);
		this.settle((ledger, { now }) => afterProbe(ledger, startNumber, outcome, now));
	}

	/** Has the latest poller decide what follows. */
	private settle(decide: (ledger: Ledger, rules: OutcomeSettings) => Decided): void {
		const { latest } = this;
		latest.follow(decide(latest.progress.ledger, latest.rules));
	}

	private get latest(): Poller {
		return this.successor?.latest ?? this;
	}
}

/** How far a trigger has come, and what of that n8n has stored: from one publish or start of n8n to the next. */
export class Progress {
	position: Position;
	ledger: Ledger;
	/** What this process has stored last: another process may have stored a newer one. */
	version: StateVersion = { takeover: 0, revision: 0 };
	private readonly n8n: ITriggerFunctions;
	/** The open groups that were stored last; absent if the position has to be stored, too. */
	private storedGroups: Group[] | undefined;
	/** When the position was last stored only because of the time (Unix epoch ms). */
	private storedAt: number;

	constructor(n8n: ITriggerFunctions, position: Position, ledger: Ledger, now: number) {
		this.n8n = n8n;
		this.position = position;
		this.ledger = withoutInputs(ledger);
		this.storedGroups = this.groups;
		// At the end of the activation n8n stores its own copy, which may overwrite the state of another trigger.
		this.storedAt = now - maxTimeUnstored + maxLag;
	}

	/** Continues at another position, in the log of another credential. */
	moveTo(position: Position): void {
		this.position = position;
		this.ledger = withoutInputs(this.ledger);
		this.storedGroups = undefined;
	}

	add({ moved, groups }: GroupReading, now: number): void {
		this.position = { ...this.position, ...moved };
		const opened = groups.map(({ group, input }) => entryOf(group, { input }));
		this.ledger = { ...this.ledger, entries: [...this.ledger.entries, ...opened] };
		// A stored position must never look older than the service's log.
		if (now - this.storedAt <= maxTimeUnstored) return;
		this.storedAt = now;
		this.storedGroups = undefined;
	}

	/** Has n8n store it without starting anything, unless n8n has. */
	store(): void {
		const { groups, storedGroups } = this;
		if (groups.length === storedGroups?.length && groups.every((group, i) => group === storedGroups[i])) return;
		this.put();
		void storeOnly(this.n8n).then((isStored) => {
			if (!isStored) this.storedGroups = undefined;
		});
	}

	/** Puts it where n8n stores it: with the next `emit`, and after activation. */
	put(options?: { isTakeover: boolean }): void {
		const { position, groups } = this;
		this.storedGroups = groups;
		this.version = storeState(this.n8n, { ...position, open: groups }, options);
	}

	private get groups(): Group[] {
		return this.ledger.entries.map(({ group }) => group);
	}
}

/** What was read for an earlier choice may lack fields of the current one. */
const withoutInputs = (ledger: Ledger): Ledger =>
	({ ...ledger, entries: ledger.entries.map((entry): LedgerEntry => ({ ...entry, input: undefined })) });
