import type { IWebhookDescription, IWebhookFunctions, IWebhookResponseData } from 'n8n-workflow';

import { connect } from '../api/connection';
import { deliveredEvent } from '../log/crmEvent';
import { answerInCrm, waitingRequest, type ApprovalAnswer, type ApprovalRequest } from './approvalRequest';
import { endApprovalSubscription } from './approvalSubscription';

const shared = { name: 'default', responseMode: 'onReceived', responseData: '', path: '={{ $nodeId }}', restartWebhook: true, isFullPath: true } as const;

/** The webhooks at which n8n continues an execution that waits for an approval: for people who open the link, and for the CRM. */
export const approvalWebhooks: IWebhookDescription[] = [
	{ ...shared, httpMethod: 'GET' },
	{ ...shared, httpMethod: 'POST' },
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
	if (isAboutAnother(n8n, request)) return page(n8n, 200, 'This is another task.');
	const reading = async () => {
		const api = await connect(n8n);
		const answer = await answerInCrm(api, request, Date.now());
		if (answer.outcome !== undefined) await endApprovalSubscription(api, request.webhookId);
		return answer;
	};
	const answer = await reading().catch((error: Error) => {
		n8n.logger.error(`${n8n.getNode().name}: ${error.message}`);
		return undefined;
	});
	if (!answer) return page(n8n, 503, 'The task could not be read. Open this page again later.');
	const { outcome, by, refusal } = answer;
	if (outcome === undefined) return page(n8n, 200, refusal === undefined ? stillOpen : `Not approved: ${refusal}.`);
	const { taskId } = request;
	const data = { approved: outcome === 'approved', outcome, taskId, respondedAt: new Date().toISOString(), ...(by && { respondedBy: by }) };
	return { webhookResponse: html(pageTexts[outcome]), workflowData: [[{ json: { data }, pairedItem: { item: 0 } }]] };
}

const stillOpen = 'Nothing is decided yet. Complete the task in the CRM to approve, or delete it to decline; then open this page again if the workflow does not continue.';

const pageTexts: Record<NonNullable<ApprovalAnswer['outcome']>, string> = {
	approved: 'Approved. The workflow continues.',
	changed: 'Declined: the title or the text of the task was changed after the request.',
	deleted: 'Declined: the task was deleted.',
	expired: 'Too late: the time to answer has passed, so the request counts as declined.',
};

/** Whether the CRM reports another task: a subscription covers all tasks of the account. */
function isAboutAnother(n8n: IWebhookFunctions, { taskId }: ApprovalRequest): boolean {
	const { method, rawBody } = n8n.getRequestObject() as unknown as { method: string; rawBody?: Buffer };
	const event = method === 'POST' && rawBody ? deliveredEvent(rawBody) : undefined;
	return event !== undefined && String(event.data.object.id) !== taskId;
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
