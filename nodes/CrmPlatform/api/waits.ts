import type { IAllExecuteFunctions, IExecuteFunctions } from 'n8n-workflow';

import { readPercent, readWholeNumber } from '../values/readers';
import { timerCanceled, type Clock } from '../base/clock';
import type { Priority } from './http/fairQueue';
import type { QueueOptions } from './http/requestQueue';
import { retryPolicy } from './http/retry';
import { isToolCall } from './toolNode';

/** Maximum time (ms), without the option, in the queue for a request that nobody waits for, such as one of an import. */
export const defaultMaxUnattendedWait = 60 * 60_000;
/** Waits of at least this length (ms) are reported. */
const reportAfter = 5_000;

/** Maximum time (ms) one request may wait. For executions it is the option *Maximum Wait*; undefined if that is not set. */
export function maxWaitOf(n8n: IAllExecuteFunctions): number | undefined {
	// n8n limits the duration of a poll. At most half of it is spent waiting.
	if ('getPollBudgetMs' in n8n) return n8n.getPollBudgetMs() / 2;
	if (!isExecution(n8n)) return retryPolicy.maxWait;
	const value: unknown = n8n.getNodeParameter('options.maxWait', 0, '');
	const seconds = readWholeNumber('Maximum Wait', value, { otherwise: -1 });
	return seconds < 0 ? undefined : seconds * 1000;
}

/** A larger reserve would leave too little to the nodes. */
const maxReservePercent = 90;

/** Part of the plan (0 to 1) that *Leave Room for Others* reserves. @throws Error in the user's words */
export const readReserve = (percent: unknown): number =>
	readPercent('Leave Room for Others', percent, { otherwise: 0, max: maxReservePercent }) / 100;

/** How requests of this node are queued beside those of other nodes. */
export function queueOptionsOf(n8n: IAllExecuteFunctions, maxWait = defaultMaxUnattendedWait): Omit<QueueOptions, 'account' | 'reserve'> {
	const { id = '' } = n8n.getWorkflow();
	const priority = priorityOf(n8n);
	// A trigger never becomes bulk: it runs for months, but sends little at a time.
	const execution = isExecution(n8n) ? n8n.getExecutionId() : undefined;
	return { workflow: id, execution, priority, laterPriority: isExecution(n8n) ? 'bulk' : priority, maxUnattendedWait: maxWait };
}

function priorityOf(n8n: IAllExecuteFunctions): Priority {
	if (!isExecution(n8n)) return 'emit' in n8n || '__emit' in n8n ? 'ordinary' : 'awaited';
	// The newest agents run tools as ordinary nodes, under a node type that n8n derives from the node's.
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

/** Reports long waits: in n8n's log while they last and when they end; on the node afterwards. */
export class WaitReport {
	private readonly n8n: IAllExecuteFunctions;
	private readonly notices: Set<string>;
	private readonly clock: Clock;
	/** Concurrent waits, which count once. */
	private waiting = 0;
	private since = 0;
	private total = 0;
	private maxOthers = 0;
	private timer = new AbortController();

	constructor(n8n: IAllExecuteFunctions, notices: Set<string>, clock: Clock) {
		this.n8n = n8n;
		this.notices = notices;
		this.clock = clock;
	}

	/**
	 * @param ms expected length
	 * @returns ends the wait
	 */
	begin(ms: number, otherWorkflows: number): () => void {
		this.waiting += 1;
		if (this.waiting === 1) {
			this.since = this.clock.now();
			this.timer = new AbortController();
			const log = () => this.log(`waiting ${ms > reportAfter ? `${Math.round(ms / 1000)} s ` : ''}for the CRM`);
			this.clock.sleep(reportAfter, this.timer.signal).then(log, () => undefined);
		}
		return () => this.end(otherWorkflows);
	}

	private end(otherWorkflows: number): void {
		this.waiting -= 1;
		if (this.waiting > 0) return;
		this.timer.abort(timerCanceled);
		this.notices.delete(waitNotice(this.total, this.maxOthers));
		const waited = this.clock.now() - this.since;
		this.total += waited;
		if (waited >= reportAfter) this.log(`waited ${Math.round(waited / 1000)} s for the CRM, ${Math.round(this.total / 1000)} s in all`);
		this.maxOthers = Math.max(this.maxOthers, otherWorkflows);
		if (this.total >= reportAfter) this.notices.add(waitNotice(this.total, this.maxOthers));
	}

	private log(message: string): void {
		this.n8n.logger.info(`${this.n8n.getNode().name}: ${message}`);
	}
}

function waitNotice(ms: number, otherWorkflows: number): string {
	const workflows = otherWorkflows === 1 ? 'workflow was' : 'workflows were';
	const others = otherWorkflows === 0 ? '' : ` ${otherWorkflows} other ${workflows} waiting on the same credential.`;
	return `The node waited ${Math.round(ms / 1000)} s for the CRM.${others} To avoid this, send fewer requests at once or upgrade the plan of the account.`;
}
