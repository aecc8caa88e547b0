import type { ITriggerFunctions, ITriggerResponse } from 'n8n-workflow';

import type { Connection } from '../../api/connection';
import { type Clock, steady } from '../../base/clock';
import { RecentMap } from '../../base/maps';
import type { EventLog } from '../../log/eventLog';
import { asNodeError, reportFailure } from '../reportFailure';
import { forgetStates, isNewestState, triggerKey } from '../storedState';
import { forgetN8n } from './execution';
import { ledgerOf } from './ledger';
import { countAwaited, nextDue } from './openGroups';
import { groupLoader, type LoadGroup } from './loading';
import { type Opening, openPosition } from './openPosition';
import type { PollSettings } from './pollProperties';
import { storedPosition } from './position';
import { Progress } from './progress';
import { type Access, forgetLooks, GroupReader } from './reading';
import { report } from './reports';
import { Starts } from './starts';

/** Looks at the credential: what it opens if it was changed; otherwise undefined. */
type Renew = (current: Access['api']) => Promise<Access | undefined>;

/** Maximum milliseconds between two rounds while the service fails. */
const maxPause = 5 * 60_000;

/** Reads new groups and starts executions for them, in rounds, until the trigger is closed or opened again. */
class Poller {
	readonly progress: Progress;
	readonly starts: Starts;
	private readonly opening: Opening;
	private readonly renew: Renew;
	/** They read with the credential that was last seen. */
	private reader: GroupReader;
	private load: LoadGroup;
	/** Aborted when the trigger is closed, or opened again. */
	private readonly closing = new AbortController();
	/** Aborted when an execution has ended, or when the trigger is closed. */
	private awake = new AbortController();
	/** When the credential was last read (Unix epoch ms). */
	private renewedAt = -Infinity;
	/** Number of rounds that have failed since the last that has not. */
	private failures = 0;

	constructor(opening: Opening, access: Access, progress: Progress, renew: Renew) {
		this.opening = opening;
		this.renew = renew;
		this.progress = progress;
		this.reader = new GroupReader(access, opening);
		this.load = groupLoader(access, opening);
		this.starts = new Starts(opening, progress, () => this.noteEnd(), this.closing.signal);
	}

	/** Starts nothing further; executions under way are still followed to their end. */
	stop(): void {
		this.closing.abort();
		this.awake.abort();
	}

	/** Stops, and stores the outcomes so far: the trigger continues when it is opened again. */
	close(): void {
		if (this.closing.signal.aborted) return;
		this.progress.store();
		this.stop();
	}

	async run(): Promise<void> {
		const { opening: { clock }, closing: { signal } } = this;
		await this.starts.findExecutions();
		while (!signal.aborted) {
			this.awake = new AbortController();
			const wait = await this.round().catch(async (error: unknown) => await this.fail(error));
			if (!signal.aborted) await clock.sleep(wait, this.awake.signal).catch(() => undefined);
		}
	}

	/** @returns milliseconds until the next round */
	private async round(): Promise<number> {
		const { opening: { n8n, clock, settings }, progress, starts } = this;
		// Each reading has the current credential; the end of each execution also causes a round.
		if (clock.now() - this.renewedAt >= settings.interval / 2) await this.renewCredential();
		const roundAt = clock.now();
		// Starts come before reading, which takes time: a start also stores finished groups.
		await starts.startDue(this.load);
		this.storeOutcomes();
		const isQuiet = await this.read();
		await starts.startDue(this.load);
		if (isQuiet && countAwaited(progress.ledger.open) === 0) progress.store();
		const { notices } = this.reader.access.api;
		for (const message of notices) n8n.logger.warn(`${n8n.getNode().name}: ${message}`);
		notices.clear();
		this.failures = 0;
		return Math.max(0, Math.min(this.reader.nextReading(progress), nextDue(progress.ledger.open, roundAt)) - clock.now());
	}

	/** Reads new groups if it is time to. @returns whether there are none */
	private async read(): Promise<boolean> {
		const { opening: { n8n, clock }, closing: { signal }, progress, reader } = this;
		if (signal.aborted || reader.nextReading(progress) > clock.now()) return false;
		const reading = await reader.read(progress);
		if (signal.aborted) return false;
		if (reading.notice !== undefined) report(n8n, { message: reading.notice });
		progress.add(reading, clock.now());
		return reading.groups.length === 0;
	}

	/** Reports the failure of a round, once per outage. The position stays, so nothing is lost. @returns as `round` */
	private async fail(error: unknown): Promise<number> {
		const { n8n, settings: { interval } } = this.opening;
		if (this.closing.signal.aborted) return 0;
		if (this.failures === 0) reportFailure(n8n, asNodeError(n8n, error));
		this.failures += 1;
		this.progress.store();
		return Math.min(interval * 2 ** this.failures, maxPause);
	}

	/** Continues with the credential, if it was changed, in the log of its account: n8n does not report a change. */
	private async renewCredential(): Promise<void> {
		const { opening, closing: { signal }, progress, reader } = this;
		const access = await this.renew(reader.access.api);
		if (signal.aborted) return;
		const position = access && (await openPosition(opening, access.log, progress.position));
		// A changed credential that cannot read the log is read again in each round: the failure lasts.
		this.renewedAt = opening.clock.now();
		if (!position || signal.aborted) return;
		progress.moveTo(position);
		this.reader = new GroupReader(access, opening);
		this.load = groupLoader(access, opening);
	}

	/** Wakes the loop, as an execution has ended. */
	private noteEnd(): void {
		// Reading may wait for the rate limit, and an outcome not yet stored is lost if n8n is killed.
		if (this.reader.isReading) this.storeOutcomes();
		if (this.closing.signal.aborted && countAwaited(this.progress.ledger.open) === 0) this.progress.store();
		this.awake.abort();
	}

	private storeOutcomes(): void {
		if (this.opening.settings.doneWhen === 'succeeded' && !this.closing.signal.aborted) this.progress.store();
	}
}

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
 */
export async function startPolling(
	n8n: ITriggerFunctions,
	{ api, log, clock: systemTime }: { api: Connection; log: EventLog; clock: Clock },
	settings: PollSettings,
	renew: Renew = async () => await Promise.resolve(undefined),
): Promise<ITriggerResponse> {
	const opening = { n8n, clock: steady(systemTime), settings };
	const stored = storedPosition(n8n);
	const existing = pollers.get(triggerKey(n8n));
	const latest = existing && (!stored || isNewestState(n8n, existing.progress.version)) ? existing.progress : undefined;
	const position = await openPosition(opening, log, latest?.position ?? stored);
	const progress = new Progress(n8n, position, latest?.ledger ?? ledgerOf(stored?.open ?? []), opening.clock.now());
	const poller = new Poller(opening, { api, log, records: settings.records }, progress, renew);
	// Another opening may have come first meanwhile.
	const previous = pollers.get(triggerKey(n8n));
	previous?.stop();
	if (previous) previous.starts.successor = poller.starts;
	pollers.set(triggerKey(n8n), poller);
	// n8n stores the position at the end of the activation.
	progress.put({ isTakeover: true });
	void poller.run();
	return { closeFunction: async () => poller.close() };
}
