import { type ITriggerFunctions, type ITriggerResponse, NodeOperationError } from 'n8n-workflow';

import type { Connection } from '../../api/connection';
import { unauthorized } from '../../api/http/statuses';
import { isAnsweredWith } from '../../api/record';
import { steady } from '../../base/clock';
import { namedRecords } from '../eventOutput';
import type { EventChoice } from '../eventProperties';
import { asNodeError, reportFailure } from '../reportFailure';
import { maxTimeUnstored } from '../storedState';
import { type Dispatcher, openDispatcher } from './dispatcher';
import { loadGroup } from './loadGroup';
import type { Beginning } from './openPosition';
import type { ChangeChoice } from './pollProperties';
import { type Group, maxLag } from './position';
import { type Input, LogFollower, readBackfill, type ReadingDependencies } from './reading';
import type { RecordReader } from './records';

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
 * Reads until the trigger is closed.
 *
 * @param reopen looks at the credential, and returns whether another reading has taken over because it was changed
 */
export async function startReading(
	n8n: ITriggerFunctions,
	{ api, log, clock }: ReadingDependencies,
	choice: TriggerChoice,
	reopen = async () => await Promise.resolve(false),
): Promise<ITriggerResponse> {
	const service = { api, log, clock: steady(clock) };
	const dispatcher = await openDispatcher(n8n, log, choice, beginningOf(choice), service.clock);
	const loop = new ReadingLoop(n8n, service, choice, dispatcher);
	void loop.run(reopen);
	return {
		closeFunction: async () => {
			// The trigger continues when it is opened again.
			if (!loop.signal.aborted) dispatcher.close();
		},
	};
}

class ReadingLoop {
	/** Aborted once another opening has taken over, or the trigger is closed. */
	readonly signal: AbortSignal;
	private readonly n8n: ITriggerFunctions;
	private readonly service: ReadingDependencies;
	private readonly choice: TriggerChoice;
	private readonly dispatcher: Dispatcher;
	private readonly follower: LogFollower;
	/** What was just read of groups that have not started yet, by the name of the group. */
	private readonly inputs = new Map<string, Input>();
	/** Aborted when an execution has ended, or when `signal` is aborted. */
	private awake = new AbortController();
	private isReading = false;
	/** The connection by which names are read, and when it was first used (Unix epoch ms). */
	private names: { api: Connection; since: number };
	/** When to read next (Unix epoch ms). */
	private nextRead = -Infinity;
	private failures = 0;
	/** When the credential was last looked at (Unix epoch ms). */
	private lookedAtCredential: number;
	/** When the position was last stored only because of the time (Unix epoch ms). */
	private storedAt: number;

	constructor(n8n: ITriggerFunctions, service: ReadingDependencies, choice: TriggerChoice, dispatcher: Dispatcher) {
		const { api, clock } = service;
		this.n8n = n8n;
		this.service = service;
		this.choice = choice;
		this.dispatcher = dispatcher;
		this.signal = dispatcher.signal;
		this.follower = new LogFollower(service, choice.interval / 2);
		this.lookedAtCredential = clock.now();
		this.names = { api, since: -Infinity };
		// At the end of the activation n8n stores its own copy, which may overwrite the state of another trigger.
		this.storedAt = clock.now() - maxTimeUnstored + maxLag;
		dispatcher.onSettled = () => {
			// Reading may wait for the rate limit, and an outcome not yet stored is lost if n8n is killed.
			if (this.isReading) this.storeOutcomes();
			this.awake.abort();
		};
		this.signal.addEventListener('abort', () => this.awake.abort());
	}

	async run(reopen: () => Promise<boolean>): Promise<void> {
		const { n8n, signal, choice, service: { api, clock } } = this;
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
				this.dispatcher.store();
			}
			if (!signal.aborted) await clock.sleep(wait, this.awake.signal).catch(() => undefined);
		}
	}

	/** @returns milliseconds to wait before the next step */
	private async step(): Promise<number> {
		const { dispatcher, signal, choice, service: { clock } } = this;
		const begun = clock.now();
		// Starts come before reading, which takes time: a start also stores finished groups.
		await dispatcher.startDue(this.load, signal);
		if (signal.aborted) return 0;
		this.storeOutcomes();
		const isQuiet = await this.read();
		if (signal.aborted) return 0;
		await dispatcher.startDue(this.load, signal);
		if (signal.aborted) return 0;
		if (isQuiet) dispatcher.storeWhenIdle();
		const untilRead = dispatcher.roomForGroups() > 0 ? Math.max(0, this.nextRead - clock.now()) : choice.interval;
		return Math.min(untilRead, Math.max(0, dispatcher.nextDue(begun) - clock.now()));
	}

	/**
	 * Reads new groups if it is time to.
	 *
	 * @returns whether there are none
	 */
	private async read(): Promise<boolean> {
		const { n8n, dispatcher, signal, inputs, choice: { records, groupSize, interval }, service: { clock } } = this;
		const { position } = dispatcher;
		const { backfill } = position;
		const room = dispatcher.roomForGroups();
		if (backfill) this.nextRead = Math.max(this.nextRead, backfill.ready);
		if (room <= 0 || clock.now() < this.nextRead) return false;
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
		if (isOld || opened.length > 0) dispatcher.changed();
		return opened.length === 0;
	}

	private readonly load = async (group: Group, tries: number) => {
		const { inputs, service: { api, log, clock }, choice: { records, events: { output } } } = this;
		const { items, failures } = await loadGroup(group, { api, log, records, output, tries, input: inputs.get(group.name) });
		if (failures.length === 0) inputs.delete(group.name);
		// A connection remembers names, which may change.
		if (clock.now() - this.names.since > maxNameAge) this.names = { api: { ...api }, since: clock.now() };
		const named = await namedRecords(this.names.api, items.map(({ json }) => json), output.names, records?.options.recordType);
		return { items: named.map((json) => ({ json })), failures };
	};

	private storeOutcomes(): void {
		if (this.choice.doneWhen === 'succeeded') this.dispatcher.store();
	}
}

function beginningOf({ events: { events, filter, output }, records, start, since }: TriggerChoice): Beginning {
	const choice = { events, filter, shape: output.shape };
	// Switching to other records, or to events, starts over.
	if (!records) return { choice, start, since };
	const { path, entered, filters: queries } = records.options;
	return { choice, start: `records ${path}`, since: '', scope: JSON.stringify([path, queries]), filters: { entered, queries } };
}
