import {
	NodeApiError,
	NodeOperationError,
	type IDataObject,
	type ITriggerFunctions,
	type ITriggerResponse,
} from 'n8n-workflow';

import { connect, type Connection } from '../../api/connection';
import { systemClock, type Clock } from '../../api/http/request';
import { openEventLog, type EventLog } from '../eventLog';
import { ignoredOrigins, readEventChoice, readOrigin, type EventChoice } from '../eventProperties';
import { readChangeChoice, type ChangeChoice } from './choice';
import { Dispatcher } from './dispatcher';
import { latestItems } from './latest';
import { openDispatcher, reportFailure } from './published';
import { recordReader, type RecordReader } from './records';
import { readRecordChoice } from './recordScope';
import { ChangeSource } from './source';

/** What the user chose, read when the workflow is published: n8n evaluates no expressions later. */
interface Choice extends ChangeChoice {
	events: EventChoice;
	records?: RecordReader;
}

/**
 * Starts executions with what happens in the service, from a stored position on. By hand, it gives
 * the latest events or records, and leaves the position alone.
 *
 * @throws NodeApiError or NodeOperationError in the user's words, which makes the publish fail
 */
export async function startChangeTrigger(n8n: ITriggerFunctions, clock = systemClock): Promise<ITriggerResponse> {
	try {
		const api = await connect(n8n, clock);
		const choice = await readChoice(n8n, api);
		const log = await openEventLog(api);
		if (n8n.getMode() === 'manual') {
			const manualTriggerFunction = async () => n8n.emit([await latestItems(n8n, api, log, choice.events, choice.records)]);
			return { manualTriggerFunction };
		}
		return await startReading(n8n, api, log, choice, clock);
	} catch (error) {
		throw inUsersWords(n8n, error);
	}
}

async function readChoice(n8n: ITriggerFunctions, api: Connection): Promise<Choice> {
	const choice = readChangeChoice(n8n);
	if (choice.source === 'events') return { ...choice, events: readEventChoice(n8n) };
	const { scope, eventTypes } = await readRecordChoice(n8n, api);
	const options = n8n.getNodeParameter('options', {}) as IDataObject;
	const filter = { changedFields: [], equal: {}, ignored: ignoredOrigins(n8n, options) };
	const events: EventChoice = { events: eventTypes.sort(), filter, output: { shape: 'event', origin: readOrigin(n8n) } };
	return { ...choice, events, records: recordReader(api, scope) };
}

async function startReading(
	n8n: ITriggerFunctions,
	api: Connection,
	log: EventLog,
	choice: Choice,
	clock: Clock,
): Promise<ITriggerResponse> {
	const { criteria } = beginningOf(choice);
	const { output } = choice.events;
	const dispatcher = await openDispatcher(n8n, log, choice, beginningOf(choice), clock);
	const { position } = dispatcher;
	const source = new ChangeSource(api, log, { size: choice.groupSize, records: choice.records, output, criteria });
	if (!Dispatcher.hasKeys(n8n)) n8n.logger.warn(`${n8n.getNode().name}: ${noKeys}`);

	const closing = new AbortController();
	const { signal } = closing;
	let wake: () => void = () => undefined;
	let isReading = false;
	dispatcher.onSettled = () => {
		// Reading may wait for the rate limit; until the outcome is stored, it is lost if n8n is killed.
		if (isReading && choice.doneWhen === 'succeeded') dispatcher.store();
		wake();
	};

	/** Waits, but no longer than until an execution has come out or the trigger is closed. */
	const pause = async (ms: number): Promise<void> => {
		const waiting = new AbortController();
		wake = () => waiting.abort();
		if (signal.aborted) return;
		await clock.sleep(ms, waiting.signal).catch(() => undefined);
	};

	let lastRead = -Infinity;
	let hasMore = true;
	let failures = 0;
	let stored = clock.now();

	/** @returns milliseconds to wait */
	const step = async (): Promise<number> => {
		const start = async () => await dispatcher.startDue(async (group) => await source.load(group));
		// Before reading, which takes time: a start also stores what has ended.
		await start();
		if (choice.doneWhen === 'succeeded') dispatcher.store();
		const { room } = dispatcher;
		let isQuiet = false;
		if (room > 0 && (hasMore || clock.now() - lastRead >= choice.interval)) {
			const wasBackfill = position.backfill !== undefined;
			isReading = true;
			const reading = source.read(position, room, clock.now(), () => signal.aborted);
			const groups = await reading.finally(() => (isReading = false));
			if (groups.length > 0) dispatcher.changed();
			if (signal.aborted) return 0;
			lastRead = clock.now();
			hasMore = wasBackfill || groups.length >= room;
			isQuiet = groups.length === 0;
			// So that a stored position never looks older than the service's log.
			if (clock.now() - stored > longestUnstored) {
				stored = clock.now();
				dispatcher.changed();
			}
		}
		await start();
		if (signal.aborted) return 0;
		if (isQuiet) dispatcher.storeWhenIdle();
		const untilRead = hasMore && dispatcher.room > 0 ? 0 : Math.max(0, lastRead + choice.interval - clock.now());
		return Math.min(untilRead, dispatcher.nextDue ?? Infinity);
	};

	const run = async (): Promise<void> => {
		while (!signal.aborted) {
			let wait = choice.interval;
			try {
				wait = await step();
				for (const message of api.notices) n8n.logger.warn(`${n8n.getNode().name}: ${message}`);
				api.notices.clear();
				failures = 0;
			} catch (error) {
				if (signal.aborted) return;
				// Told once for each outage; the position stays, so nothing is lost.
				if (failures === 0) reportFailure(n8n, inUsersWords(n8n, error));
				failures += 1;
				wait = Math.min(choice.interval * 2 ** failures, longestPause);
			}
			await pause(wait);
		}
	};
	void run();

	return {
		closeFunction: async () => {
			closing.abort();
			dispatcher.close();
			wake();
		},
	};
}

function beginningOf({ events: { events, filter }, records, start }: Choice) {
	// Another kind of records, or events instead, is another beginning.
	const name = records ? `records ${events.join()}` : start;
	return { criteria: { events, filter }, start: name, since: start, backfill: records !== undefined };
}

/** Milliseconds between two readings while the service fails. */
const longestPause = 5 * 60_000;

/** Milliseconds after which the position is stored though nothing has happened. */
const longestUnstored = 12 * 60 * 60_000;

const noKeys =
	'this version of n8n cannot tell starts apart (2.20 and later can), so after a crash of n8n an event may start the workflow a second time.';

function inUsersWords(n8n: ITriggerFunctions, error: unknown): NodeApiError | NodeOperationError {
	const isKnown = error instanceof NodeApiError || error instanceof NodeOperationError;
	return isKnown ? error : new NodeOperationError(n8n.getNode(), error as Error);
}
