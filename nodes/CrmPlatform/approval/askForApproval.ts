import { NodeOperationError, type IDataObject, type IExecuteFunctions, type IRunExecutionData } from 'n8n-workflow';
import { DateTime } from 'luxon';

import { findRecord, isAnsweredWith, readRecord } from '../api/record';
import { idText } from '../base/json';
import { idempotencyKey } from '../api/http/idempotency';
import { collectionName, path, type Collection } from '../api/http/path';
import { refusedSubscription } from '../api/http/statuses';
import type { WriteDescription } from '../api/openapi/writing';
import { openEventLog } from '../log/eventLog';
import type { Execution } from '../model';
import { stateOfRun } from '../writing/runState';
import {
	answerInCrm,
	completedEvent,
	decisionItem,
	endSubscription,
	tasksPath,
	textDigest,
	waitingItem,
	type ApprovalRequest,
} from './receiveAnswer';

/** The user's entries. */
interface ApprovalQuestion {
	title: string;
	message: string;
	/** What the call under review would write, according to the CRM; empty if the node reviews no call. */
	reviewText: string;
	/** ID of the approver; the record's owner if empty. */
	approver: string;
	/** The record that the task is about. */
	record?: { collection: Collection; id: string };
	/** Milliseconds within which an answer counts. */
	limit: number;
}

/** Milliseconds after the deadline in which the CRM may still report a task that was completed in time. */
const grace = 5 * 60_000;

/**
 * Gives the approver a task and makes the execution wait. The CRM calls n8n when the task is completed or
 * deleted; if it cannot, the approver opens the link in the task.
 *
 * @throws Error in the user's words
 */
export async function askForApproval(execution: Execution, question: ApprovalQuestion, now = Date.now()): Promise<IDataObject> {
	const { n8n, api } = execution;
	const { record } = question;
	const about = record && (await readRecord(api, record.collection + path`/${record.id}`));
	const approver = await approverOf(execution, question, about);
	// Only the log shows whether a person completes the task.
	await (await openEventLog(api)).newest();
	const until = deadlineOfRun(execution, question.limit, now);
	const end = new Date(until.getTime() + grace);
	const link = n8n.getSignedResumeUrl();
	const task = await createTask(execution, { ...question, approver, about, until, link });
	const webhookId = await subscribeToAnswer(execution, String(task.id), link, end);
	const request: ApprovalRequest = {
		taskId: String(task.id),
		...(webhookId !== undefined && { webhookId }),
		until: until.toISOString(),
		digest: textDigest(task),
	};
	// Somebody may decide before the CRM can call n8n.
	const answer = await answerInCrm(api, request, now).catch(() => undefined);
	if (answer?.outcome !== undefined) {
		await endSubscription(api, webhookId);
		return decisionItem(request, answer);
	}
	// When the time is over, n8n outputs the node's input (n8n-core 2.41, handleDisabledNode): an earlier
	// node's approval, or a model's arguments, would be mistaken for an approval.
	n8n.getExecuteData().data.main = [[{ json: waitingItem(request), pairedItem: { item: 0 } }]];
	separateOtherCalls(n8n);
	await n8n.putExecutionToWait(end);
	return task;
}

/** @returns the task as the approver sees it */
async function createTask(execution: Execution, request: TaskRequest): Promise<IDataObject> {
	const { api } = execution;
	const create = (await api.describe('/tasks'))?.create;
	const body = taskBody(execution, request, create);
	const { body: created } = await api.send({ method: 'POST', path: tasksPath, body, ...keyFor(execution, create, 'task', request.until) });
	const id = idText((created as IDataObject).id);
	if (id === undefined) throw new Error('The CRM created a task but returned no ID.');
	const task = await findRecord(api, tasksPath + path`/${id}`);
	if (!task) {
		throw new Error(
			`The task ${id} was created, but this credential may not see it, so its completion would not be noticed. ` +
				'Use an API key, or sign in as an administrator.',
		);
	}
	if (idText(task.id) !== id) throw new Error('The CRM returned a different task than it created.');
	return task;
}

/**
 * Lets the CRM call n8n about this task alone, until the time is over: a subscription to all tasks would call each
 * waiting execution for each task, and n8n tells a node neither that its wait is over nor that it was canceled.
 *
 * @returns the id of the subscription; undefined if the CRM cannot limit it so, or refuses to call this n8n
 */
async function subscribeToAnswer(execution: Execution, taskId: string, url: string, end: Date): Promise<string | undefined> {
	const { n8n, api } = execution;
	const create = (await api.describe('/webhooks'))?.create;
	const takes = (name: string) => create?.fields.some(({ path: [member] }) => member === name);
	const body = {
		url,
		events: [completedEvent, 'task.deleted'],
		filter: { ids: [taskId] },
		expires_at: end.toISOString(),
		description: `n8n approval: ${n8n.getWorkflow().name ?? ''} / ${n8n.getNode().name}`.slice(0, 200),
	};
	const request = { method: 'POST', path: '/webhooks', body, ...keyFor(execution, create, 'webhook', end) } as const;
	const unlessRefused = (error: unknown): undefined => {
		if (!isAnsweredWith(error, ...refusedSubscription)) throw error;
	};
	const response = takes('filter') && takes('expires_at') ? await api.send(request).catch(unlessRefused) : undefined;
	const subscription = response?.body as IDataObject | undefined;
	if (!subscription) api.notices.add(noWebhook);
	return idText(subscription?.id);
}

const noWebhook =
	'The CRM does not call n8n about this task: it cannot limit a webhook to one task, cannot reach this n8n, or does not let the credential create webhooks. The approver has to open the link in the task after completing or deleting it.';

/** A key that is equal for each attempt of Retry On Fail, so that no attempt creates a second task or webhook. */
function keyFor({ identity }: Execution, create: WriteDescription | undefined, target: 'task' | 'webhook', until: Date) {
	if (create?.idempotencyHeader === undefined) return {};
	const run = `${identity.run}/${target} ${until.toISOString()}`;
	const key = idempotencyKey({ ...identity, run, items: [0] }, create.idempotencyKey);
	return { idempotency: { header: create.idempotencyHeader, key } };
}

/**
 * Gives a node of its own to each other call of this node that is still to run, such as those that a model makes in
 * one message. n8n disables the node with which an execution resumes (n8n-core 2.41, handleWaitingState), and with it
 * all calls that share it: they would output their input, in which a model may have said `approved`.
 */
function separateOtherCalls(n8n: IExecuteFunctions): void {
	const { runExecutionData } = n8n as unknown as { runExecutionData: IRunExecutionData };
	const { name } = n8n.getNode();
	for (const call of runExecutionData.executionData?.nodeExecutionStack ?? []) if (call.node.name === name) call.node = { ...call.node };
}

interface TaskRequest extends ApprovalQuestion {
	about: IDataObject | undefined;
	until: Date;
	/** With which the execution continues. */
	link: string;
}

function taskBody({ n8n }: Execution, request: TaskRequest, create: WriteDescription | undefined): IDataObject {
	const { title, message, reviewText, record, approver, about, until, link } = request;
	const fields = (create?.fields ?? []).map(({ name }) => name);
	if (!fields.includes('assignee_id') && !fields.includes('owner_id')) throw new Error('The CRM does not support assigning tasks.');
	const day = DateTime.fromJSDate(until, { zone: n8n.getTimezone() }).toFormat('yyyy-MM-dd HH:mm ZZZZ');
	const description = [
		// The first line is never the workflow's, whose message could imitate what follows it.
		...(reviewText === '' ? [] : [`According to the CRM, the call would make this change:\n${reviewText}`]),
		`The workflow says:\n${message}`,
		`Complete this task to approve. Delete it to decline. It counts as declined if it is still open on ${day}, or if you change its title or this text.`,
		`The workflow then continues. If it does not, open ${link}`,
	].join('\n\n');
	const all: IDataObject = {
		title,
		description,
		assignee_id: approver,
		// A user who cannot see the task cannot approve it.
		owner_id: approver,
		due_at: until.toISOString(),
		links: record && about ? [{ resource: collectionName(record.collection), id: about.id }] : undefined,
	};
	const isSent = ([name, value]: [string, unknown]) => value !== undefined && (fields.includes(name) || name === 'title');
	return Object.fromEntries(Object.entries(all).filter(isSent));
}

async function approverOf(execution: Execution, { approver }: ApprovalQuestion, about: IDataObject | undefined): Promise<string> {
	const id = approver || idText(about?.owner_id ?? about?.assignee_id);
	if (id === undefined) {
		if (about) throw new Error('Approver: the record has no owner. Choose an approver.');
		throw new Error('Approver: choose an approver, or choose a record under About; its owner then approves.');
	}
	// The credential may not read users.
	const user = await readRecord(execution.api, path`/users/${id}`).catch((error: unknown): IDataObject => {
		if (isAnsweredWith(error, 403)) return {};
		throw error;
	});
	if (typeof user.status !== 'string' || user.status === 'active') return id;
	throw new Error(`Approver: ${String(user.name ?? user.id)} is ${user.status}. Choose an active user.`);
}

/** The deadline of an answer. All attempts of a run share it: under its key, the service only accepts an equal task. */
function deadlineOfRun(execution: Execution, limit: number, now: number): Date {
	const state = stateOfRun<{ run: number | string; until?: number }>(execution, 'approval');
	if (state.until === undefined || state.until <= now) state.until = now + limit;
	return new Date(state.until);
}

/** @throws NodeOperationError if one answer would apply to several items */
export function refuseSeveralItems({ n8n }: Execution): void {
	const count = n8n.getInputData().length;
	if (count < 2) return;
	throw new NodeOperationError(n8n.getNode(), `There are ${count} items, but one answer cannot apply to all of them`, {
		description: 'No approval was requested. Put Loop Over Items before this node, with a batch size of 1.',
	});
}
