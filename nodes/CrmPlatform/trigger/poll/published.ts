import { NodeOperationError, type ITriggerFunctions } from 'n8n-workflow';

import type { Clock } from '../../base/clock';
import type { EventLog } from '../../log/eventLog';
import { isStartedByN8n, reportFailure } from '../reportFailure';
import { forgetStates, isNewestState, triggerKey } from '../storedState';
import type { DispatchOptions } from './eventChoice';
import { Dispatcher } from './dispatcher';
import { groupOfEvents } from './group';
import { openPosition, type Beginning } from './openPosition';
import { storedPosition } from './position';
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
