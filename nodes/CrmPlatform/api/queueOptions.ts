import type { IAllExecuteFunctions, IExecuteFunctions } from 'n8n-workflow';

import type { Clock } from '../base/clock';
import { parsePercent, parseWholeNumber } from '../values/parsers';
import type { OnWait, Priority, QueueOptions } from './http/requestQueue';
import { equalWaits, type RequestLimits, usualLimits } from './http/retry';
import { isToolCall } from './toolNode';

/**
 * The limits of a node's requests.
 *
 * @param usual seconds, for an execution whose user has not set *Maximum Wait*
 */
export function requestLimitsOf(n8n: IAllExecuteFunctions, usual?: number): RequestLimits {
	// A person waits in front of an opened form, but not for a trigger.
	if (!isExecution(n8n)) return { ...usualLimits, ...equalWaits('emit' in n8n ? usualLimits.wait : 60_000) };
	const value: unknown = n8n.getNodeParameter('options.maxWait', 0, usual ?? '');
	const seconds = parseWholeNumber('Maximum Wait', value, { otherwise: -1 });
	return seconds < 0 ? usualLimits : { ...usualLimits, ...equalWaits(seconds * 1000) };
}

/** Share of the plan (0 to 1) that *Leave Room for Others* reserves: more would leave too little. @throws Error in the user's words */
export const readReserve = (percent: unknown): number =>
	parsePercent('Leave Room for Others', percent, { otherwise: 0, max: 90 }) / 100;

export function queueOptionsOf(n8n: IAllExecuteFunctions): Omit<QueueOptions, 'queueName' | 'reserve'> {
	const { id = '' } = n8n.getWorkflow();
	const priority = priorityOf(n8n);
	// A trigger never becomes bulk: it runs for months, but sends little at a time.
	const execution = isExecution(n8n) ? n8n.getExecutionId() : undefined;
	return { workflow: id, execution, priority, laterPriority: isExecution(n8n) ? 'bulk' : priority };
}

function priorityOf(n8n: IAllExecuteFunctions): Priority {
	if (!isExecution(n8n)) return 'emit' in n8n ? 'ordinary' : 'awaited';
	// The newest agents run tools as ordinary nodes, with a type that n8n derives from the node's type.
	if (n8n.isToolExecution() || isToolCall(n8n)) return 'awaited';
	const mode = n8n.getMode();
	return mode === 'manual' || mode === 'chat' || (mode === 'webhook' && answersCaller(n8n)) ? 'awaited' : 'ordinary';
}

function isExecution(n8n: IAllExecuteFunctions): n8n is IExecuteFunctions {
	return 'getInputData' in n8n;
}

/** Whether the workflow itself responds to its webhook, at its end or by a node. A public chat always does, whatever its response mode. */
function answersCaller(n8n: IExecuteFunctions): boolean {
	const parents = n8n.getParentNodes(n8n.getNode().name, { includeNodeParameters: true });
	return parents.some(
		({ type, parameters }) => type.endsWith('.chatTrigger') || (parameters?.responseMode ?? 'onReceived') !== 'onReceived',
	);
}

/** Milliseconds of waiting that are reported. */
const reportAfter = 5_000;

/** Reports on the node, after the execution, how long it waited in all. Concurrent waits count once. */
export function reportWaits(notices: Set<string>, clock: Clock): OnWait {
	let [waiting, since, total] = [0, 0, 0];
	let notice = '';
	return () => {
		if (waiting === 0) since = clock.now();
		waiting += 1;
		return () => {
			waiting -= 1;
			if (waiting > 0) return;
			// A trigger, whose connection lasts for weeks, has logged it: what follows is another wait.
			if (notice !== '' && !notices.delete(notice)) [total, notice] = [0, ''];
			total += clock.now() - since;
			if (total < reportAfter) return;
			notice = `The node waited ${Math.round(total / 1000)} s for the CRM: its rate limit was reached, or requests were sent again.`;
			notices.add(notice);
		};
	};
}
