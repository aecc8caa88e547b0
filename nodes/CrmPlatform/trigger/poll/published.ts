import { NodeOperationError, type ITriggerFunctions } from 'n8n-workflow';

import type { Clock } from '../../base/clock';
import type { EventLog } from '../../log/eventLog';
import { isStartedByN8n } from '../activation';
import { forgetStates, isNewestState, triggerKey } from '../storedState';
import type { DispatchOptions } from './eventChoice';
import { Dispatcher } from './dispatcher';
import { groupOfEvents } from './group';
import { findLostPosition } from './lostPosition';
import { storedPosition, type Position } from './position';
import { reportFailure } from '../reportFailure';
import { resume, type Beginning, type Resumption } from './resume';
import { forgetLooks } from './logFollower';
import { hasExecution } from '../unwritable';
import { executionKey, forgetN8n } from './starts';

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
	const latestPosition = isCurrent ? existingDispatcher.position : stored;
	const isRestart = isStartedByN8n(n8n);
	const activation = { isRestart, now: clock.now() };
	const newest = await log.newest();
	const resumed = await resume(log, latestPosition, newest, beginning, activation);
	const { position } = resumed;
	// Only a publish changes the beginning, so after a restart a different one belongs to an older position.
	const isOlder = isRestart && latestPosition !== undefined && latestPosition.start !== beginning.start;
	let { notice } = resumed;
	if (isOlder && beginning.since !== '') notice = olderPosition;
	else if (isOlder || !latestPosition) notice = await recoverPosition(n8n, log, resumed, beginning, clock, isRestart);
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

/**
 * Recovers the position of a node that has none: it was never published, or its position is lost.
 *
 * @returns what to tell the user
 */
async function recoverPosition(
	n8n: ITriggerFunctions,
	log: EventLog,
	{ position }: Resumption,
	{ choice, since }: Beginning,
	clock: Clock,
	isRestart: boolean,
): Promise<string | undefined> {
	const found = await findLostPosition(log, choice, async (event) => {
		return await hasExecution(n8n, executionKey(n8n, groupOfEvents([event], position, choice.shape)), clock);
	});
	if (found && (since === '' || found.newestStarted > position.sequence)) {
		// Events without an execution are read again; n8n knows what it has started.
		const { sequence } = found;
		Object.assign(position, { sequence, begun: sequence, since: '', backfill: undefined });
		return recovered(sequence);
	}
	return isRestart ? startedOver(position) : undefined;
}

const lost =
	'The position of this trigger was lost, for instance because another node of the workflow has overwritten its static data. Events that only an earlier choice of events includes may be missing.';

const recovered = (sequence: number): string =>
	`${lost} It was restored from the executions of the latest events, and the trigger continues there. Events up to sequence ${sequence} that had not started the workflow, and events that waited for another attempt, may be missing.`;

const startedOver = ({ sequence, since }: Position): string =>
	`Events may be missing. ${lost} The trigger starts over as set in Start From, with the events after sequence ${sequence}${since === '' ? '' : `, since ${since}`}.`;

const olderPosition =
	'The stored position was from before the last change of Start From, for instance because another node of the workflow has overwritten its static data. The trigger starts over as set in Start From. Events that already have an execution do not start another one. Events that only an earlier choice of events includes may be missing.';
