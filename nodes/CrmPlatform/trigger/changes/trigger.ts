import {
	NodeApiError,
	NodeOperationError,
	type IDataObject,
	type ITriggerFunctions,
	type ITriggerResponse,
} from 'n8n-workflow';

import { connect, type Connection } from '../../api/connection';
import { systemClock, type Clock } from '../../api/http/clock';
import { openEventLog, type EventLog } from '../../api/eventLog';
import { isAnsweredWith } from '../../api/fetchRecord';
import { unauthorized } from '../../api/http/statuses';
import { ignoredOrigins, readEventChoice, readOrigin, type EventChoice } from '../eventProperties';
import { readChangeChoice, type ChangeChoice } from './eventChoice';
import { latestItems } from './latest';
import { loadGroup } from './load';
import { maxLag, type Group } from './position';
import { openDispatcher } from './published';
import { recordReader, type RecordReader, type RecordScope } from './records';
import { readRecordChoice } from './recordScope';
import { reportFailure } from './report';
import type { Beginning } from './resume';
import { sharedLook, untilNextLook } from './sharedLook';
import { ChangeSource } from './changeSource';

/** The user's choices, read at a publish: n8n evaluates no expressions later. */
export interface TriggerChoice extends ChangeChoice {
	events: EventChoice;
	records?: RecordReader;
}

/**
 * Starts executions with events of the service, from a stored position on. A manual run returns the latest
 * events or records and leaves the position alone.
 *
 * @throws NodeApiError or NodeOperationError in the user's words, which makes the publish fail
 */
export async function startChangeTrigger(n8n: ITriggerFunctions, clock = systemClock): Promise<ITriggerResponse> {
	try {
		const api = await connect(n8n, clock);
		const { scope, ...choice } = await readChoice(n8n, api);
		const isManual = n8n.getMode() === 'manual';
		const tell = (message: string): void => reportFailure(n8n, new NodeOperationError(n8n.getNode(), message));
		const log = await openEventLog(api, isManual ? undefined : tell);
		if (isManual) {
			const manualTriggerFunction = async () => n8n.emit([await latestItems(n8n, api, log, choice.events, scope && recordReader(api, scope))]);
			return { manualTriggerFunction };
		}
		// Before n8n 2.20, `emit` takes no key, so that a crash would start events twice.
		if (n8n.emit.length < 4) throw new Error(tooOld);
		const choiceOf = (connection: Connection): TriggerChoice => (scope ? { ...choice, records: recordReader(connection, scope) } : choice);
		let isClosed = false;
		const open = async (service: Service): Promise<ITriggerResponse> =>
			await startReading(n8n, service, choiceOf(service.api), async () => {
				const renewed = await connect(n8n, clock);
				if (renewed.view === service.api.view || isClosed) return false;
				opened = await open({ api: renewed, log: await openEventLog(renewed, tell), clock });
				if (isClosed) await opened.closeFunction?.();
				return true;
			});
		let opened = await open({ api, log, clock });
		return {
			closeFunction: async () => {
				isClosed = true;
				await opened.closeFunction?.();
			},
		};
	} catch (error) {
		throw inUsersWords(n8n, error);
	}
}

async function readChoice(n8n: ITriggerFunctions, api: Connection): Promise<Omit<TriggerChoice, 'records'> & { scope?: RecordScope }> {
	const choice = readChangeChoice(n8n);
	if (choice.source === 'events') return { ...choice, events: readEventChoice(n8n) };
	const { scope, eventTypes } = await readRecordChoice(n8n, api);
	const options = n8n.getNodeParameter('options', {}) as IDataObject;
	const filter = { changedFields: [], equal: {}, ignored: ignoredOrigins(n8n, options) };
	const events: EventChoice = { events: eventTypes.sort(), filter, output: { shape: 'event', origin: readOrigin(n8n) } };
	return { ...choice, events, scope };
}

/** The dependencies besides n8n: real, or simulated in tests. */
export interface Service {
	api: Connection;
	log: EventLog;
	clock: Clock;
}

/**
 * Reads until the trigger is closed.
 *
 * @param reopen called when the service refuses the credential, since n8n does not report that its key was
 * replaced. Returns whether another reading has taken over
 */
export async function startReading(
	n8n: ITriggerFunctions,
	service: Service,
	choice: TriggerChoice,
	reopen = async () => await Promise.resolve(false),
): Promise<ITriggerResponse> {
	const { api, log, clock } = service;
	const beginning = beginningOf(choice);
	const { origin } = choice.events.output;
	const dispatcher = await openDispatcher(n8n, log, choice, beginning, clock);
	const { position, signal } = dispatcher;
	const source = new ChangeSource({
		api,
		log,
		look: async () => await sharedLook(api.view, choice.interval / 2, clock, log.newest),
		size: choice.groupSize,
		records: choice.records,
		wasRead: dispatcher.read,
		report: (message) => reportFailure(n8n, new NodeOperationError(n8n.getNode(), message)),
	});
	const load = async (group: Group, tries: number) =>
		await loadGroup(group, { api, log, records: choice.records, origin, tries, cache: source });

	const storeOutcomes = (): void => {
		if (choice.doneWhen === 'succeeded') dispatcher.store();
	};
	/** Aborted when an execution has ended, or the trigger is closed. */
	let awake = new AbortController();
	let isReading = false;
	dispatcher.onSettled = () => {
		// Reading may wait for the rate limit, and an outcome not yet stored is lost if n8n is killed.
		if (isReading) storeOutcomes();
		awake.abort();
	};
	signal.addEventListener('abort', () => awake.abort());

	/** When to read next (Unix epoch ms). */
	let nextRead = -Infinity;
	let failures = 0;
	// At the end of the activation n8n stores its own copy, which may overwrite the state of another trigger.
	let stored = clock.now() - maxTimeUnstored + maxLag;

	/** @returns milliseconds to wait */
	const step = async (): Promise<number> => {
		const begun = clock.now();
		// Before reading, which takes time: a start also stores finished groups.
		await dispatcher.startDue(load, signal);
		if (signal.aborted) return 0;
		storeOutcomes();
		const { room } = dispatcher;
		let isQuiet = false;
		const { backfill } = position;
		if (backfill) nextRead = Math.max(nextRead, backfill.ready);
		if (room > 0 && clock.now() >= nextRead) {
			isReading = true;
			const reading = source.read(position, room, clock.now(), () => signal.aborted);
			const groups = await reading.finally(() => (isReading = false));
			if (groups.length > 0) dispatcher.changed();
			if (signal.aborted) return 0;
			isQuiet = groups.length === 0;
			const hasMore = backfill !== undefined || groups.length >= room;
			nextRead = hasMore ? -Infinity : clock.now() + untilNextLook(choice.interval, clock.now());
			// So that a stored position never looks older than the service's log.
			if (clock.now() - stored > maxTimeUnstored) {
				stored = clock.now();
				dispatcher.changed();
			}
		}
		await dispatcher.startDue(load, signal);
		if (signal.aborted) return 0;
		if (isQuiet) dispatcher.storeWhenIdle();
		const untilRead = dispatcher.room > 0 ? Math.max(0, nextRead - clock.now()) : choice.interval;
		return Math.min(untilRead, Math.max(0, dispatcher.nextDue(begun) - clock.now()));
	};

	const run = async (): Promise<void> => {
		while (!signal.aborted) {
			let wait = choice.interval;
			awake = new AbortController();
			try {
				wait = await step();
				for (const message of api.notices) n8n.logger.warn(`${n8n.getNode().name}: ${message}`);
				api.notices.clear();
				failures = 0;
			} catch (error) {
				if (signal.aborted) return;
				if (isAnsweredWith(error, unauthorized) && (await reopen().catch(() => false))) return;
				// Reported once per outage; the position stays, so nothing is lost.
				if (failures === 0) reportFailure(n8n, inUsersWords(n8n, error));
				failures += 1;
				wait = Math.min(choice.interval * 2 ** failures, maxPause);
				dispatcher.store();
			}
			if (!signal.aborted) await clock.sleep(wait, awake.signal).catch(() => undefined);
		}
	};
	void run();

	return {
		closeFunction: async () => {
			// The trigger continues when it is opened again.
			if (!signal.aborted) dispatcher.close();
		},
	};
}

function beginningOf({ events: { events, filter, output }, records, start, since }: TriggerChoice): Beginning {
	const choice = { events, filter, shape: output.shape };
	// Switching to other records, or to events, starts over.
	if (records) return { choice, start: `records ${records.path}`, since: '', scope: records.scope };
	return { choice, start, since };
}

const tooOld = 'This n8n is too old for the CRM Platform Poll Trigger, which needs n8n 2.20 or newer. Update n8n, then try again.';

/** Milliseconds between two readings while the service fails. */
const maxPause = 5 * 60_000;

/** Milliseconds after which the position is stored even if nothing has happened. */
const maxTimeUnstored = 12 * 60 * 60_000;

function inUsersWords(n8n: ITriggerFunctions, error: unknown): NodeApiError | NodeOperationError {
	const isKnown = error instanceof NodeApiError || error instanceof NodeOperationError;
	if (!isKnown) return new NodeOperationError(n8n.getNode(), error as Error);
	// The trigger that sent the shared query may belong to another workflow.
	return error.node.id === n8n.getNode().id ? error : new NodeOperationError(n8n.getNode(), error.message, { description: error.description ?? '' });
}
