import type { IDataObject, IWebhookDescription, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';
import { z } from 'zod';

import { connect, type Connection } from '../api/connection';
import { findRecord } from '../api/record';
import { encodedPath } from '../api/http/path';
import { deleteSubscription } from '../api/webhookSubscriptions';
import { sha256 } from '../base/digest';
import { idText } from '../base/json';
import { causeOf } from '../log/cause';
import type { CrmEvent } from '../log/crmEvent';
import { openEventLog } from '../log/eventLog';

const storedRequest = z.object({
	taskId: z.string(),
	webhookId: z.string().optional(),
	/** Deadline for the decision (RFC 3339). */
	until: z.string(),
	/** Digest of the text shown to the approver. */
	digest: z.string(),
});

/** A pending request. n8n stores it with the execution, as the node's item. */
export type ApprovalRequest = z.infer<typeof storedRequest>;

/** The item of a waiting execution, which n8n outputs unchanged when the time is over. */
export const waitingItem = (request: ApprovalRequest): IDataObject => ({ data: { approved: false, outcome: 'expired', ...request } });

/** Digest of the text to approve, which others may change meanwhile. A form of the service may rewrap its lines. */
export const textDigest = ({ title, description }: IDataObject): string =>
	sha256(`${String(title)} ${String(description)}`.replace(/\s+/g, ' ').trim()).slice(0, 16);

/** @throws Error if the service returns another one */
export async function taskWithId(api: Connection, id: string): Promise<IDataObject | undefined> {
	const task = await findRecord(api, encodedPath`/tasks/${id}`);
	if (task && idText(task.id) !== id) throw new Error('The CRM returned a different task.');
	return task;
}

interface Decision {
	/** Absent while the request is open. */
	outcome?: 'approved' | 'changed' | 'declined' | 'expired';
	/** The user who decided, if the service states it. */
	by?: IDataObject;
	/** Why a completed task does not count. */
	refusal?: string;
}

/**
 * Reads the task, whose state is the decision, and who completed it.
 *
 * @throws Error if the task or the log cannot be read
 */
export async function decisionInCrm(api: Connection, request: ApprovalRequest, now: number): Promise<Decision> {
	const task = await taskWithId(api, request.taskId);
	const isOver = now >= Date.parse(request.until);
	if (!task || (task.deleted_at ?? null) !== null) return { outcome: 'declined' };
	if (task.status !== 'completed') return isOver ? { outcome: 'expired' } : {};
	// The CRM may call late about a task that was completed in time.
	if (isOver && !(Date.parse(String(task.completed_at)) <= Date.parse(request.until))) return { outcome: 'expired' };
	if (textDigest(task) !== request.digest) return { outcome: 'changed' };
	const completed = await completionOf(api, request, task);
	if (!completed) return { refusal: 'the event log of the CRM does not yet show who completed the task. Open this page again later' };
	// Somebody may have restored the text since.
	if (textDigest(completed.data.object) !== request.digest) return { outcome: 'changed' };
	const by = completed.actor as IDataObject | undefined;
	if (by?.type === 'user' && !causeOf(completed).origin) return { outcome: 'approved', by };
	return { refusal: 'a workflow or a program has completed the task, not a person. Reopen the task and complete it yourself' };
}

/** The item with which the workflow continues. */
export function decisionItem({ taskId }: ApprovalRequest, { outcome, by }: Decision): IDataObject {
	const approved = outcome === 'approved';
	return { data: { approved, outcome, taskId, respondedAt: new Date().toISOString(), ...(by && { respondedBy: by }) } };
}

/** The event of the last completion; undefined as long as the log does not have it. */
async function completionOf(api: Connection, { taskId }: ApprovalRequest, task: IDataObject): Promise<CrmEvent | undefined> {
	const log = await openEventLog(api, () => undefined);
	for await (const event of log.newestFirst([completedEvent])) {
		const { object } = event.data;
		// Later changes by others do not show who completed the task.
		if (idText(object.id) === taskId) return Date.parse(String(object.completed_at)) < Date.parse(String(task.completed_at)) ? undefined : event;
		// Both times are from the service's clock.
		if (Date.parse(event.timestamp) < Date.parse(String(task.created_at))) return undefined;
	}
	return undefined;
}

export const completedEvent = 'task.completed';

/** The webhooks at which n8n continues an execution that waits for an approval: for people who open the link, and for the CRM. */
export const approvalWebhooks = (['GET', 'POST'] as const).map((httpMethod): IWebhookDescription => ({
	name: 'default',
	httpMethod,
	responseMode: 'onReceived',
	responseData: '',
	path: '={{ $nodeId }}',
	restartWebhook: true,
	isFullPath: true,
}));

/**
 * Answers a visit of the link or a delivery of the CRM. Both only make the node read the task, so that opening the link, or a preview of it,
 * approves nothing. Never throws, since n8n would then continue the workflow.
 */
export async function receiveDecision(n8n: IWebhookFunctions): Promise<IWebhookResponseData> {
	// Every context has this method, but only some types declare it.
	const context = n8n as unknown as { evaluateExpression(expression: string, item: number): unknown };
	const request = storedRequest.safeParse(context.evaluateExpression('{{ $json.data }}', 0)).data;
	if (!request) return page(n8n, 200, 'No workflow is waiting for this answer.');
	let decision: Decision;
	try {
		const api = await connect(n8n);
		decision = await decisionInCrm(api, request, Date.now());
		if (decision.outcome !== undefined) await endSubscription(api, request.webhookId);
	} catch (error) {
		n8n.logger.error(`${n8n.getNode().name}: ${(error as Error).message}`);
		return page(n8n, 503, 'The task, or the log of who completed it, could not be read. Open this page again later.');
	}
	const { outcome, refusal } = decision;
	if (outcome === undefined) return page(n8n, 200, refusal === undefined ? stillOpen : `Not approved: ${refusal}.`);
	return { webhookResponse: html(pageTexts[outcome]), workflowData: [[{ json: decisionItem(request, decision), pairedItem: { item: 0 } }]] };
}

const stillOpen = 'Nothing is decided yet. Complete the task in the CRM to approve, or delete it to decline; then open this page again if the workflow does not continue.';

const pageTexts: Record<NonNullable<Decision['outcome']>, string> = {
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
	const headers = {
		'content-type': 'text/html; charset=utf-8',
		'cache-control': 'no-store',
		'content-security-policy': 'sandbox',
		...(status === 503 && { 'retry-after': '5' }),
	};
	response.writeHead(status, headers).end(html(text));
	return { noWebhookResponse: true };
}
