import {
	NodeApiError,
	NodeOperationError,
	type INodeExecutionData,
	type ITriggerFunctions,
	type ITriggerResponse,
} from 'n8n-workflow';

import { connect, type Connection } from '../../api/connection';
import { systemClock, type Clock } from '../../api/http/request';
import { passesFilter } from '../eventFilter';
import { openEventLog, type EventLog } from '../eventLog';
import { readEventChoice, type EventChoice } from '../eventProperties';
import { eventOutput } from '../output';
import { Dispatcher } from './dispatcher';
import { storedPosition, storePosition, type Position } from './position';
import { readChangeChoice, type ChangeChoice } from './properties';
import { recordReader, type RecordReader } from './records';
import { readRecordChoice } from './recordScope';
import { resume } from './resume';
import { ChangeSource } from './source';

/** What the user chose, read when the workflow is published: n8n evaluates no expressions later. */
interface Choice extends ChangeChoice {
	events: EventChoice;
	records?: RecordReader;
}

/** Dispatchers of this process, so that one that is published again knows what is under way. */
const dispatchers = new Map<string, Dispatcher>();

/** Forgets what this process knows, as a new process would. */
export function forgetDispatchers(): void {
	for (const dispatcher of dispatchers.values()) dispatcher.close();
	dispatchers.clear();
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
			const manualTriggerFunction = async () => n8n.emit([await latest(n8n, api, log, choice)]);
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
	const filter = { changedFields: [], equal: {} };
	const events: EventChoice = { events: eventTypes.sort(), filter, output: 'event' };
	return { ...choice, events, records: recordReader(api, scope) };
}

async function startReading(
	n8n: ITriggerFunctions,
	api: Connection,
	log: EventLog,
	choice: Choice,
	clock: Clock,
): Promise<ITriggerResponse> {
	const { events, filter, output } = choice.events;
	const criteria = { events, filter };
	const dispatcher = await openDispatcher(n8n, log, choice, criteria, clock);
	const { position } = dispatcher;
	const source = new ChangeSource(api, log, { size: choice.groupSize, records: choice.records, output, criteria });
	if (!Dispatcher.hasKeys(n8n)) n8n.logger.warn(`${n8n.getNode().name}: ${noKeys}`);

	const closing = new AbortController();
	const { signal } = closing;
	let wake: () => void = () => undefined;
	dispatcher.onSettled = () => wake();

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
		if (choice.moveOn === 'succeeded') dispatcher.storeWhenIdle();
		const { room } = dispatcher;
		let isQuiet = false;
		if (room > 0 && (hasMore || clock.now() - lastRead >= choice.interval)) {
			const wasBackfill = position.backfill !== undefined;
			const groups = await source.read(position, room, clock.now(), () => signal.aborted);
			if (signal.aborted) return 0;
			dispatcher.open(groups);
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
				if (failures === 0) report(n8n, inUsersWords(n8n, error));
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

/** Milliseconds between two readings while the service fails. */
const longestPause = 5 * 60_000;

/** Milliseconds after which the position is stored though nothing has happened. */
const longestUnstored = 12 * 60 * 60_000;

const noKeys =
	'this version of n8n cannot tell starts apart (2.20 and later can), so after a crash of n8n an event may start the workflow a second time.';

/** Continues where this process or the stored position stopped, whichever is newer. */
async function openDispatcher(
	n8n: ITriggerFunctions,
	log: EventLog,
	choice: Choice,
	criteria: Position['criteria'],
	clock: Clock,
): Promise<Dispatcher> {
	const name = `${n8n.getInstanceId()} ${String(n8n.getWorkflow().id)} ${n8n.getNode().id}`;
	const known = dispatchers.get(name);
	const stored = storedPosition(n8n);
	const isKnown = known !== undefined && known.position.revision >= (stored?.revision ?? 0);
	const latestPosition = isKnown ? known.position : stored;
	const newest = await log.end('newest');
	const beginning = {
		criteria,
		// Another kind of records, or events instead, is another beginning.
		start: choice.records ? `records ${criteria.events.join()}` : choice.start,
		since: choice.start,
		backfill: choice.records !== undefined,
		generation: clock.now().toString(36),
	};
	const { position, notice } = await resume(log, latestPosition, newest, beginning, clock.now());
	if (notice !== undefined) report(n8n, new NodeOperationError(n8n.getNode(), notice));

	known?.close();
	const isContinued = isKnown && known.position.generation === position.generation;
	const dispatcher = isContinued ? known : new Dispatcher(n8n, position, choice, clock);
	if (isContinued) {
		Object.assign(known.position, position);
		known.reopen(n8n, choice);
	}
	dispatchers.set(name, dispatcher);
	// n8n stores it at the end of the activation.
	storePosition(n8n, dispatcher.position);
	return dispatcher;
}

/** How many of the latest events or records a test shows, and how many events are looked at for them. */
const mostShown = 5;
const mostSearched = 1_000;

async function latest(
	n8n: ITriggerFunctions,
	api: Connection,
	log: EventLog,
	{ events: { events, filter, output }, records }: Choice,
): Promise<INodeExecutionData[]> {
	if (records) {
		const page = await records.page('', mostShown);
		const found = await records.existing(page.records.map(({ id }) => String(id)));
		if (found.length > 0) return found.map((json) => ({ json }));
		throw new NodeOperationError(n8n.getNode(), 'There is no record in scope');
	}
	const items: INodeExecutionData[] = [];
	let searched = 0;
	for await (const event of log.newestFirst(events)) {
		if (passesFilter(event, filter)) {
			items.unshift({ json: await eventOutput(event, output, async () => api) });
		}
		searched += 1;
		if (items.length === mostShown || searched === mostSearched) break;
	}
	if (items.length > 0) return items;
	throw new NodeOperationError(n8n.getNode(), 'None of the latest events is one you chose', {
		description:
			'The trigger works all the same once the workflow is active. To see an event here, do in the CRM what it is to start with, then test again.',
	});
}

/** Puts a failed execution in the list, which starts the error workflow; the trigger goes on. */
function report(n8n: ITriggerFunctions, error: NodeApiError | NodeOperationError): void {
	n8n.logger.error(`${n8n.getNode().name}: ${error.message}`);
	n8n.saveFailedExecution(error);
}

function inUsersWords(n8n: ITriggerFunctions, error: unknown): NodeApiError | NodeOperationError {
	const isKnown = error instanceof NodeApiError || error instanceof NodeOperationError;
	return isKnown ? error : new NodeOperationError(n8n.getNode(), error as Error);
}
