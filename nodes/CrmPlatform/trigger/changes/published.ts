import { NodeOperationError, type NodeApiError, type ITriggerFunctions } from 'n8n-workflow';

import type { Clock } from '../../api/http/request';
import type { EventLog } from '../eventLog';
import { Dispatcher, type DispatchOptions } from './dispatcher';
import { storedPosition, storePosition } from './position';
import { resume, type Beginning } from './resume';

/** Dispatchers of this process, so that one that is published again knows what is under way. */
const dispatchers = new Map<string, Dispatcher>();

/** Forgets what this process knows, as a new process would. */
export function forgetDispatchers(): void {
	for (const dispatcher of dispatchers.values()) dispatcher.close();
	dispatchers.clear();
}

/** Continues where this process or the stored position stopped, whichever is newer. */
export async function openDispatcher(
	n8n: ITriggerFunctions,
	log: EventLog,
	options: DispatchOptions,
	begin: Omit<Beginning, 'generation'>,
	clock: Clock,
): Promise<Dispatcher> {
	const name = `${n8n.getInstanceId()} ${String(n8n.getWorkflow().id)} ${n8n.getNode().id}`;
	const known = dispatchers.get(name);
	const stored = storedPosition(n8n);
	const isKnown = known !== undefined && known.position.revision >= (stored?.revision ?? 0);
	const latestPosition = isKnown ? known.position : stored;
	const newest = await log.end('newest');
	const beginning = { ...begin, generation: clock.now().toString(36) };
	const { position, notice } = await resume(log, latestPosition, newest, beginning, clock.now());
	if (notice !== undefined) reportFailure(n8n, new NodeOperationError(n8n.getNode(), notice));

	known?.close();
	const isContinued = isKnown && known.position.generation === position.generation;
	const dispatcher = isContinued ? known : new Dispatcher(n8n, position, options, clock);
	if (isContinued) {
		Object.assign(known.position, position);
		known.reopen(n8n, options);
	}
	dispatchers.set(name, dispatcher);
	// n8n stores it at the end of the activation.
	storePosition(n8n, dispatcher.position);
	return dispatcher;
}

/** Puts a failed execution in the list, which starts the error workflow; the trigger goes on. */
export function reportFailure(n8n: ITriggerFunctions, error: NodeApiError | NodeOperationError): void {
	n8n.logger.error(`${n8n.getNode().name}: ${error.message}`);
	n8n.saveFailedExecution(error);
}
