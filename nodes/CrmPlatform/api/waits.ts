import type { IAllExecuteFunctions, IExecuteFunctions } from 'n8n-workflow';

import { readPercent, readWholeNumber } from '../values/readers';
import type { Clock } from './http/clock';
import type { Turns } from './http/requestQueue';
import { retryPolicy } from './http/retry';
import type { Rank } from './http/turnOrder';
import { isToolCall } from './toolNode';

/** Milliseconds a request may stand in the queue where nobody waits for it: an import ends by itself. */
export const patientWait = 60 * 60_000;
/** Milliseconds; a shorter wait is not worth reporting. */
const noticeable = 5_000;

/** Ends the clock of a wait; by default it would cost an error of its own. */
const waitIsOver = new Error('The wait is over');

/** Milliseconds one request may wait in total: the node's option, where it is set. */
export function longestWait(n8n: IAllExecuteFunctions): number | undefined {
	// n8n limits the time of a poll, and waiting must not take all of it.
	if ('getPollBudgetMs' in n8n) return n8n.getPollBudgetMs() / 2;
	if (!isExecution(n8n)) return retryPolicy.maxWait;
	const given: unknown = n8n.getNodeParameter('options.maxWait', 0, '');
	const seconds = readWholeNumber('Maximum Wait', given, { otherwise: -1 });
	return seconds < 0 ? undefined : seconds * 1000;
}

/** More would leave too little to the one who asks for it. */
const mostForOthers = 90;

/** Part of the plan (0 to 1) that the credential leaves to others. @throws Error in the user's words */
export const roomForOthers = (percent: unknown): number =>
	readPercent('Leave Room for Others', percent, { otherwise: 0, most: mostForOthers }) / 100;

/** How the requests of this node are queued beside those of others. */
export function turnsOf(n8n: IAllExecuteFunctions, maxWait = patientWait): Omit<Turns, 'account' | 'forOthers'> {
	const { id = '' } = n8n.getWorkflow();
	const rank = rankOf(n8n);
	// A trigger runs for months, and sends little at a time.
	const execution = isExecution(n8n) ? n8n.getExecutionId() : undefined;
	return { workflow: id, execution, rank, rankOfMany: isExecution(n8n) ? 'bulk' : rank, maxWait };
}

function rankOf(n8n: IAllExecuteFunctions): Rank {
	if (!isExecution(n8n)) return 'emit' in n8n || '__emit' in n8n ? 'ordinary' : 'awaited';
	// The newest agents run their tools as ordinary nodes, whose type n8n names after the node.
	if (n8n.isToolExecution() || isToolCall(n8n)) return 'awaited';
	const mode = n8n.getMode();
	return mode === 'manual' || mode === 'chat' || (mode === 'webhook' && answersCaller(n8n)) ? 'awaited' : 'ordinary';
}

function isExecution(n8n: IAllExecuteFunctions): n8n is IExecuteFunctions {
	return 'getInputData' in n8n;
}

/** Whether the webhook that started the workflow is answered at its end, or by a node of it. A public chat is a webhook that always is; its options say only how. */
function answersCaller(n8n: IExecuteFunctions): boolean {
	const before = n8n.getParentNodes(n8n.getNode().name, { includeNodeParameters: true });
	return before.some(({ type, parameters }) => type.endsWith('.chatTrigger') || (parameters?.responseMode ?? 'onReceived') !== 'onReceived');
}

/** Reports waits that a user would notice: in n8n's log while they last and when they end; on the node afterwards. */
export function waitReport(
	n8n: IAllExecuteFunctions,
	notices: Set<string>,
	clock: Clock,
): (ms: number, others: number) => () => void {
	// Requests wait at the same time, and their times must not be added up.
	let waiting = 0;
	let since = 0;
	let total = 0;
	let mostOthers = 0;
	let over = new AbortController();
	return (ms, others) => {
		if (waiting === 0) {
			since = clock.now();
			over = new AbortController();
			const log = () => n8n.logger.info(`${n8n.getNode().name}: waiting ${ms > noticeable ? `${Math.round(ms / 1000)} s ` : ''}for the service`);
			clock.sleep(noticeable, over.signal).then(log, () => undefined);
		}
		waiting += 1;
		const ended = () => {
			waiting -= 1;
			if (waiting > 0) return;
			over.abort(waitIsOver);
			notices.delete(waitNotice(total, mostOthers));
			const waited = clock.now() - since;
			total += waited;
			if (waited >= noticeable) n8n.logger.info(`${n8n.getNode().name}: waited ${Math.round(waited / 1000)} s for the service, ${Math.round(total / 1000)} s in all`);
			mostOthers = Math.max(mostOthers, others);
			if (total >= noticeable) notices.add(waitNotice(total, mostOthers));
		};
		return ended;
	};
}

function waitNotice(ms: number, others: number): string {
	const beside = others === 0 ? '' : `, beside ${others} other ${others === 1 ? 'workflow' : 'workflows'} on the same credential`;
	return `The node waited ${Math.round(ms / 1000)} s for the service${beside}. To avoid this, send fewer requests at once or upgrade the plan of the account.`;
}
