import type { IDataObject, IWebhookFunctions } from 'n8n-workflow';
import { z } from 'zod';

import type { Connection } from '../api/connection';
import { causeOf } from '../log/cause';
import type { CrmEvent } from '../log/crmEvent';
import { NoEventLog, openEventLog } from '../log/eventLog';
import { findRecord, isAnsweredWith, isWebPage } from '../api/fetchRecord';
import { sha256 } from '../base/digest';
import { idText } from '../base/json';
import { path } from '../api/http/path';
import { notFound, unsupported } from '../api/http/statuses';
import { compareInstants } from '../values/compareInstants';

/** The outcome of a request for approval. */
type ApprovalOutcome = 'approved' | 'changed' | 'deleted' | 'expired';

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

export function waitingRequest(n8n: IWebhookFunctions): ApprovalRequest | undefined {
	// Every context has this method, but only some types declare it.
	const context = n8n as unknown as { evaluateExpression(expression: string, item: number): unknown };
	return storedRequest.safeParse(context.evaluateExpression('{{ $json.data }}', 0)).data;
}

/** Digest of the text to approve, which others may change meanwhile. A form of the service may rewrap its lines. */
export const textDigest = ({ title, description }: IDataObject): string =>
	sha256(`${String(title)} ${String(description)}`.replace(/\s+/g, ' ').trim()).slice(0, 16);

export const tasksPath = '/v1/tasks';

/** The current state of a request in the CRM. */
export interface ApprovalAnswer {
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
	if (now >= Date.parse(request.until)) return { outcome: 'expired' };
	const task = await findRecord(api, tasksPath + path`/${request.taskId}`);
	if (task && idText(task.id) !== request.taskId) throw new Error('The CRM returned a different task.');
	if (!task || (task.deleted_at ?? null) !== null) return { outcome: 'deleted' };
	if (task.status !== 'completed') return {};
	if (textDigest(task) !== request.digest) return { outcome: 'changed' };
	const { by, doubt, completed } = await completion(api, request, task);
	// Somebody may have restored the text since.
	if (completed && textDigest(completed) !== request.digest) return { outcome: 'changed' };
	return doubt === undefined ? { outcome: 'approved', ...(by && { by }) } : { refusal: doubt };
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
