import { createHash } from 'node:crypto';

import { NodeApiError, type IDataObject, type IWebhookFunctions } from 'n8n-workflow';
import { z } from 'zod';

import type { Connection } from '../api/connection';
import { actorOf, originOfEvent } from '../api/crmEvent';
import { openEventLog } from '../api/eventLog';
import { findRecord, isAnsweredWith } from '../api/fetchRecord';
import { idText } from '../api/http/json';
import { path } from '../api/http/path';

/** What became of a request for approval. */
type ApprovalOutcome = 'approved' | 'changed' | 'deleted' | 'expired';

const waiting = z.object({
	taskId: z.string(),
	webhookId: z.string().optional(),
	/** Until when an answer counts (RFC 3339). */
	until: z.string(),
	/** Of the text that the approver was shown. */
	digest: z.string(),
});

/** A request that waits for its answer. n8n keeps it with the execution, as the item that the node waits with. */
export type ApprovalRequest = z.infer<typeof waiting>;

/** The item of an execution that waits: n8n puts it out as it is when the time is over. */
export const waitingItem = (request: ApprovalRequest): IDataObject => ({ data: { approved: false, outcome: 'expired', ...request } });

export function waitingRequest(n8n: IWebhookFunctions): ApprovalRequest | undefined {
	// A context of every kind has it; its type names it for few.
	const context = n8n as unknown as { evaluateExpression(expression: string, item: number): unknown };
	return waiting.safeParse(context.evaluateExpression('{{ $json.data }}', 0)).data;
}

/** Of the text that is to be approved, which others may change meanwhile. A form of the service may break its lines anew. */
export const textDigest = ({ title, description }: IDataObject): string =>
	createHash('sha256').update(`${String(title)} ${String(description)}`.replace(/\s+/g, ' ').trim()).digest('hex').slice(0, 16);

export const tasks = '/v1/tasks';

/** What the CRM says of a request now; undefined while it is open. */
export interface ApprovalAnswer {
	outcome?: ApprovalOutcome;
	/** Who answered, where the service tells. */
	by?: IDataObject;
	/** Why a completed task does not count. */
	refusal?: string;
}

/**
 * Looks at the task: it is what decides, whoever asks.
 *
 * @throws NodeApiError where it cannot be read
 */
export async function answerInCrm(api: Connection, request: ApprovalRequest, now: number): Promise<ApprovalAnswer> {
	if (now >= Date.parse(request.until)) return { outcome: 'expired' };
	const task = await findRecord(api, tasks + path`/${request.taskId}`);
	if (task && idText(task.id) !== request.taskId) throw new Error('The service returned another task than the one that was asked for.');
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
	late: 'the event log of the CRM does not say yet who has completed the task. Open this page again later',
	untold: 'the event log of the CRM does not say whether you have completed the task or a workflow that signs in as you. Somebody else may complete it, or the sign-in of the node needs the permission to read events',
};

/** Who last completed the task. */
interface Completion {
	by: IDataObject | undefined;
	/** Why it may not have been a person. */
	doubt: string | undefined;
	/** The task as it was then, if the log has its text. */
	completed?: IDataObject;
}

async function completion(api: Connection, { taskId }: ApprovalRequest, task: IDataObject): Promise<Completion> {
	const reading = async () => {
		const log = await openEventLog(api, () => undefined);
		for await (const event of log.newestFirst([completedEvent])) {
			if (idText(event.data.object.id) === taskId) return event;
			// Both by the service's clock.
			if (Date.parse(event.timestamp) < Date.parse(String(task.created_at))) break;
		}
		return 'none' as const;
	};
	// A service without a log, or a user who may not read it, leaves what the task itself says. A log that is only
	// unavailable for now may have a workflow's completion.
	const found = await reading().catch((error: unknown) => {
		if (error instanceof NodeApiError && !isAnsweredWith(error, ...withoutLog)) throw error;
		return undefined;
	});
	const event = found === 'none' ? undefined : found;
	const isOlder = [event?.data.object.completed_at, task.completed_at].every((time) => typeof time === 'string') && event?.data.object.completed_at !== task.completed_at;
	// What others have changed since says nothing of who completed it.
	if (isOlder || (found === 'none' && (await reports(api, completedEvent)))) return { by: undefined, doubt: doubts.late };
	const by = (actorOf(event ?? {}) === undefined ? task.updated_by : event!.actor) as IDataObject | undefined;
	const object = event?.data.object;
	const completed = object && ['title', 'description'].every((name) => Object.hasOwn(object, name)) ? { completed: object } : {};
	if (event && originOfEvent(event)) return { by, doubt: doubts.workflow, ...completed };
	if (typeof by?.type === 'string' && by.type !== 'user') return { by, doubt: doubts.program, ...completed };
	const isOwn = by?.id !== undefined && by.id === (task.created_by as IDataObject | undefined)?.id;
	return { by, doubt: !event && isOwn ? doubts.untold : undefined, ...completed };
}

const reports = async (api: Connection, type: string): Promise<boolean> => (await api.describeEvents()).types.some((one) => one.type === type);

/** Statuses of a service that has no log, or none for this user. */
const withoutLog = [400, 403, 404, 405, 410, 501];

export const completedEvent = 'task.completed';
