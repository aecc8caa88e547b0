import type { IDataObject, IWebhookDescription, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { z } from 'zod';

import { connect, type Connection } from '../api/connection';
import { findRecord, isAnsweredWith, isWebPage } from '../api/record';
import { path } from '../api/http/path';
import { notFound, unsupported } from '../api/http/statuses';
import { deleteSubscription } from '../api/webhookSubscriptions';
import { sha256 } from '../base/digest';
import { idText } from '../base/json';
import { causeOf } from '../log/cause';
import type { CrmEvent } from '../log/crmEvent';
import { NoEventLog, openEventLog } from '../log/eventLog';
import { compareInstants } from '../values/dates';

/** The outcome of a request for approval. */
type ApprovalOutcome = 'approved' | 'changed' | 'declined' | 'expired';

const storedRequest = z.object({
	taskId: z.string(),
	webhookId: z.string().optional(),
	/** Deadline for the answer (RFC 3339). */
	until: z.string(),
	/** Digest of the text shown to the approver. */
	digest: z.string(),
});

/** A pending request. n8n stores it with the execution, as the node's item. */
export type ApprovalRequest = z.infer<typeof storedRequest>;

/** The item of a waiting execution, which n8n outputs unchanged when the time is over. */
export const waitingItem = (request: ApprovalRequest): IDataObject => ({ data: { approved: false, outcome: 'expired', ...request } });

function waitingRequest(n8n: IWebhookFunctions): ApprovalRequest | undefined {
	// Every context has this method, but only some types declare it.
	const context = n8n as unknown as { evaluateExpression(expression: string, item: number): unknown };
	return storedRequest.safeParse(context.evaluateExpression('{{ $json.data }}', 0)).data;
}

/** Digest of the text to approve, which others may change meanwhile. A form of the service may rewrap its lines. */
export const textDigest = ({ title, description }: IDataObject): string =>
	sha256(`${String(title)} ${String(description)}`.replace(/\s+/g, ' ').trim()).slice(0, 16);

export const tasksPath = '/v1/tasks';

/** The current state of a request in the CRM. */
interface ApprovalAnswer {
	/** Absent while the request is open. */
	outcome?: ApprovalOutcome;
	/** The user who answered, if the service states it. */
	by?: IDataObject;
	/** Why a completed task does not count. */
	refusal?: string;
}

/**
 * Reads the task: its state alone is the decision.
 *
 * @throws NodeApiError if the task cannot be read
 */
export async function answerInCrm(api: Connection, request: ApprovalRequest, now: number): Promise<ApprovalAnswer> {
	const task = await findRecord(api, tasksPath + path`/${request.taskId}`);
	if (task && idText(task.id) !== request.taskId) throw new Error('The CRM returned a different task.');
	const isOver = now >= Date.parse(request.until);
	if (!task || (task.deleted_at ?? null) !== null) return { outcome: 'declined' };
	if (task.status !== 'completed') return isOver ? { outcome: 'expired' } : {};
	// The CRM may call late about a task that was completed in time.
	if (isOver && !(Date.parse(String(task.completed_at)) <= Date.parse(request.until))) return { outcome: 'expired' };
	if (textDigest(task) !== request.digest) return { outcome: 'changed' };
	const { by, doubt, completed } = await completion(api, request, task);
	// Somebody may have restored the text since.
	if (completed && textDigest(completed) !== request.digest) return { outcome: 'changed' };
	return doubt === undefined ? { outcome: 'approved', ...(by && { by }) } : { refusal: doubt };
}

/** The item with which the workflow continues. */
export function decisionItem({ taskId }: ApprovalRequest, { outcome, by }: ApprovalAnswer): IDataObject {
	const approved = outcome === 'approved';
	return { data: { approved, outcome, taskId, respondedAt: new Date().toISOString(), ...(by && { respondedBy: by }) } };
}

const doubts = {
	workflow: 'a workflow has completed the task, not a person. Reopen the task and complete it yourself',
	program: 'a program has completed the task, not a person. Reopen the task and complete it yourself',
	late: 'the event log of the CRM does not yet show who completed the task. Open this page again later',
	unknown: 'the CRM does not show whether it was you who completed the task, or a workflow that signs in as you. Ask somebody else to complete it',
	unreadable: 'the node’s credential cannot read the event log of the CRM, which shows whether a person or a workflow completed the task. Give it permission to read events, then open this page again',
};

/** The last completion of the task. */
interface Completion {
	by: IDataObject | undefined;
	/** Why the task may not have been completed by a person. */
	doubt: string | undefined;
	/** The task at the time of its completion, if the log has its text. */
	completed?: IDataObject;
}

async function completion(api: Connection, { taskId }: ApprovalRequest, task: IDataObject): Promise<Completion> {
	const { event, isUnreadable, isMissing } = await latestCompletion(api, taskId, task);
	if (isUnreadable) return { by: undefined, doubt: doubts.unreadable };
	const { object } = event?.data ?? {};
	// Later changes by others do not show who completed the task.
	if (isMissing || (object && isEarlier(object.completed_at, task.completed_at))) return { by: undefined, doubt: doubts.late };
	const completed = object && ['title', 'description'].every((name) => Object.hasOwn(object, name)) ? { completed: object } : {};
	const by = (event && causeOf(event).actor !== undefined ? event.actor : task.updated_by) as IDataObject | undefined;
	if (event && causeOf(event).origin) return { by, doubt: doubts.workflow, ...completed };
	if (typeof by?.type === 'string' && by.type !== 'user') return { by, doubt: doubts.program, ...completed };
	const isOwn = by?.id !== undefined && by.id === (task.created_by as IDataObject | undefined)?.id;
	return { by, doubt: !event && isOwn ? doubts.unknown : undefined, ...completed };
}

const isEarlier = (first: unknown, second: unknown): boolean =>
	typeof first === 'string' && typeof second === 'string' && compareInstants(first, second) < 0;

interface LatestCompletion {
	/** The event of the completion; absent if the log has none. */
	event?: CrmEvent;
	/** Whether this credential cannot read the log. */
	isUnreadable?: true;
	/** Whether the log should have the event, but does not have it yet. */
	isMissing?: boolean;
}

/** @throws NodeApiError while the log is only unavailable */
async function latestCompletion(api: Connection, taskId: string, task: IDataObject): Promise<LatestCompletion> {
	const log = await openEventLog(api, () => undefined).catch((error: Error) => {
		if (error instanceof NoEventLog) return undefined;
		throw error;
	});
	if (!log) return {};
	const reading = async (): Promise<LatestCompletion> => {
		for await (const event of log.newestFirst([completedEvent])) {
			if (idText(event.data.object.id) === taskId) return { event };
			// Both times are from the service's clock.
			if (Date.parse(event.timestamp) < Date.parse(String(task.created_at))) break;
		}
		const { types } = await api.describeEvents();
		return { isMissing: types.length === 0 || types.some(({ type }) => type === completedEvent) };
	};
	return await reading().catch((error: unknown) => {
		if (isAnsweredWith(error, 400, 403, ...notFound, ...unsupported) && !isWebPage(error)) return { isUnreadable: true as const };
		throw error;
	});
}

export const completedEvent = 'task.completed';

const resumeWebhook = { name: 'default', responseMode: 'onReceived', responseData: '', path: '={{ $nodeId }}', restartWebhook: true, isFullPath: true } as const;

/** The webhooks at which n8n continues an execution that waits for an approval: for people who open the link, and for the CRM. */
export const approvalWebhooks: IWebhookDescription[] = [
	{ ...resumeWebhook, httpMethod: 'GET' },
	{ ...resumeWebhook, httpMethod: 'POST' },
];

/**
 * Answers a visit of the link or a delivery of the CRM. Neither contains the decision: both only make the node
 * read the task, so that opening the link, or a preview of the link, approves nothing.
 *
 * Never throws, since n8n would then continue the workflow.
 */
export async function receiveAnswer(n8n: IWebhookFunctions): Promise<IWebhookResponseData> {
	const request = waitingRequest(n8n);
	if (!request) return page(n8n, 200, 'No workflow is waiting for this answer.');
	const reading = async () => {
		const api = await connect(n8n);
		const answer = await answerInCrm(api, request, Date.now());
		if (answer.outcome !== undefined) await endSubscription(api, request.webhookId);
		return answer;
	};
	const answer = await reading().catch((error: Error) => {
		n8n.logger.error(`${n8n.getNode().name}: ${error.message}`);
		return undefined;
	});
	if (!answer) return page(n8n, 503, 'The task could not be read. Open this page again later.');
	const { outcome, refusal } = answer;
	if (outcome === undefined) return page(n8n, 200, refusal === undefined ? stillOpen : `Not approved: ${refusal}.`);
	return { webhookResponse: html(pageTexts[outcome]), workflowData: [[{ json: decisionItem(request, answer), pairedItem: { item: 0 } }]] };
}

const stillOpen = 'Nothing is decided yet. Complete the task in the CRM to approve, or delete it to decline; then open this page again if the workflow does not continue.';

const pageTexts: Record<NonNullable<ApprovalAnswer['outcome']>, string> = {
	approved: 'Approved. The workflow continues.',
	changed: 'Declined: the title or the text of the task was changed after the request.',
	declined: 'Declined: the task was deleted.',
	expired: 'Too late: the time to answer has passed, so the request counts as declined.',
};

/** Nobody is called again; the subscription would end by itself later. */
export async function endSubscription(api: Connection, id: string | undefined): Promise<void> {
	if (id !== undefined) await deleteSubscription(api, id).catch(() => undefined);
}

const html = (text: string): string => `<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>Approval</title><body style="font-family:sans-serif;margin:3em auto;max-width:32em"><p>${text}</p></body></html>`;

/** Answers the visit; the execution continues to wait. */
function page(n8n: IWebhookFunctions, status: number, text: string): IWebhookResponseData {
	const response = n8n.getResponseObject() as unknown as {
		writeHead(status: number, headers: Record<string, string>): { end(body: string): unknown };
	};
	const headers = { 'content-type': 'text/html; charset=utf-8', 'cache-control': 'no-store', 'content-security-policy': 'sandbox', ...(status === 503 && { 'retry-after': '5' }) };
	response.writeHead(status, headers).end(html(text));
	return { noWebhookResponse: true };
}
