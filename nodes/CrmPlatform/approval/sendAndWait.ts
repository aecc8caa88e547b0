import { NodeOperationError, type IDataObject, type INodeProperties, type IExecuteFunctions, type IRunExecutionData } from 'n8n-workflow';
import { DateTime } from 'luxon';

import { collectionName, encodedPath, type Collection } from '../api/http/path';
import { refusedSubscription } from '../api/http/statuses';
import { undefinedIfAnsweredWith } from '../api/refusals';
import { readRecord } from '../api/record';
import { isToolCall } from '../api/toolNode';
import type { WriteDescription } from '../api/openapi/writing';
import { requireDescribed } from '../api/requireDescribed';
import { orThrow } from '../base/results';
import { idText } from '../base/json';
import { openEventLog } from '../log/eventLog';
import { bodiesOfItems } from '../mapping/itemValues';
import type { PickedField } from '../mapping/readItems';
import { noStoredFields } from '../mapping/storedFields';
import type { NodeRun, Operation } from '../model';
import { choiceProperty, numberProperty, textProperty } from '../parameters/properties';
import { pickerProperty, userByNameOrId } from '../parameters/recordParameters';
import { eachItem } from '../schedule';
import { parseOption, parsePositiveNumber } from '../values/parsers';
import { stateOfRun } from '../writing/runState';
import { sendAlone } from '../writing/sendAlone';
import {
	completedEvent, decisionInCrm, decisionItem, endSubscription, taskWithId, textDigest, waitingItem, type ApprovalRequest,
} from './decision';

const collections: Record<string, Collection | undefined> = { none: undefined, company: '/companies', contact: '/contacts', deal: '/deals', ticket: '/tickets' };

const approver: PickedField = { field: 'approver', name: 'approverId', displayName: 'Approver', method: 'searchUsers', collection: '/users', isOptional: true };
const aboutRecord: PickedField = { field: 'record', name: 'aboutRecord', displayName: 'Record', method: '' };

const properties: INodeProperties[] = [
	textProperty('Title', 'approvalTitle', {
		default: 'Approval required',
		required: true,
		description: 'Title of the task that the approver gets',
	}),
	textProperty('Message', 'message', {
		typeOptions: { rows: 4 },
		required: true,
		placeholder: 'e.g. Altamira: amount from 1,200 to 12,000',
		description: 'What to approve. It becomes the text of the task.',
	}),
	choiceProperty('About', 'aboutKind', 'none', [
		['Company', 'company'],
		['Contact', 'contact'],
		['Deal', 'deal'],
		['No Record', 'none'],
		['Ticket', 'ticket'],
	], { description: 'The type of record the task is linked to', noDataExpression: false }),
	textProperty('Record Name or ID', 'aboutRecord', {
		displayOptions: { hide: { aboutKind: ['none'] } },
		description: 'The record the task is linked to',
	}),
	{
		...pickerProperty(approver.displayName, approver.name, approver.method, { isOptional: true, by: userByNameOrId }),
		description: 'The user who gets the task. If empty, the owner of the record gets it.',
	},
];

const [defaultHours, maxHours] = [7 * 24, 365 * 24];

const limitWaitHours = numberProperty('Limit Wait Time (Hours)', 'limitWaitHours', defaultHours, {
	typeOptions: { minValue: 0.1 },
	description: 'How long to wait. Without an answer, the request counts as declined.',
});

/** Gives somebody a task, and waits until it is completed or deleted. n8n offers the operation to agents as a human review. */
export const sendAndWait: Operation = {
	option: {
		name: 'Send and Wait for Approval',
		// The name by which n8n recognizes it.
		value: 'sendAndWait',
		action: 'Send task and wait for approval',
		description: 'Give a user a task, and wait until it is completed (approved) or deleted (declined)',
	},
	properties: () => properties,
	options: [limitWaitHours],
	// Once the task was completed or deleted.
	output: {
		type: 'object',
		properties: {
			data: { type: 'object', properties: { approved: { type: 'boolean' }, outcome: { type: 'string' }, respondedAt: { type: 'string' } } },
		},
	},

	prepare(run) {
		const { n8n } = run;
		if (isToolCall(n8n)) {
			throw new NodeOperationError(n8n.getNode(), 'A tool cannot wait for an approval, so no one was asked', {
				description: 'The workflow’s author must put CRM Platform between the agent and its tools, as Human Review.',
			});
		}
		const count = n8n.getInputData().length;
		if (count < 2) return eachItem(async () => await askForApproval(run));
		throw new NodeOperationError(n8n.getNode(), `There are ${count} items, but one answer cannot apply to all of them`, {
			description: 'No approval was requested. Put Loop Over Items before this node, with a batch size of 1.',
		});
	},
};

/** Milliseconds after the deadline in which the CRM may still report a task that was completed in time. */
const grace = 5 * 60_000;

/**
 * Gives the approver a task and makes the execution wait until the CRM calls n8n; if it cannot, the approver opens the link in the task.
 *
 * @throws Error in the user's words
 */
async function askForApproval(run: NodeRun): Promise<IDataObject> {
	const { n8n, api } = run;
	const question = await readQuestion(run);
	// Only the log shows whether a person completes the task.
	await (await openEventLog(api)).newest();
	const now = Date.now();
	// All attempts of a run share the deadline: under its key, the service only accepts an equal task.
	const state = stateOfRun<{ runKey: number | string; until?: number }>(run, 'approval');
	if (state.until === undefined || state.until <= now) state.until = now + question.limit;
	const until = new Date(state.until);
	const end = new Date(state.until + grace);
	const link = n8n.getSignedResumeUrl();
	const { create } = await requireDescribed(run, 'create');
	const taskId = await createOnce(run, create, { path: '/tasks', body: taskBody(run, question, until, link), until });
	const task = await taskWithId(api, taskId);
	if (!task) {
		throw new Error(
			`The task ${taskId} was created, but this credential may not see it, so its completion would not be noticed. ` +
			'Use an API key, or sign in as an administrator.',
		);
	}
	const webhookId = await subscribeToDecision(run, taskId, link, end);
	const digest = textDigest(task);
	const request: ApprovalRequest = { taskId, ...(webhookId !== undefined && { webhookId }), until: until.toISOString(), digest };
	// Somebody may decide before the CRM can call n8n.
	const decision = await decisionInCrm(api, request, now).catch(() => undefined);
	if (decision?.outcome !== undefined) {
		await endSubscription(api, webhookId);
		return decisionItem(request, decision);
	}
	// When the time is over, n8n outputs the node's input (n8n-core 2.41, handleDisabledNode): an earlier
	// node's approval, or a model's arguments, would be mistaken for an approval.
	n8n.getExecuteData().data.main = [[{ json: waitingItem(request), pairedItem: { item: 0 } }]];
	separateOtherCalls(n8n);
	await n8n.putExecutionToWait(end);
	return task;
}

async function readQuestion(run: NodeRun) {
	const { n8n, api, reviewText = '' } = run;
	const read = (name: string): string => String(n8n.getNodeParameter(name, 0, '') ?? '').trim();
	const aboutKind: unknown = n8n.getNodeParameter('aboutKind', 0, 'none');
	const collection = collections[parseOption('About', aboutKind, Object.keys(collections), { otherwise: 'none' })];
	const hours: unknown = n8n.getNodeParameter('options.limitWaitHours', 0, defaultHours);
	const limit = parsePositiveNumber(limitWaitHours.displayName, hours, { max: maxHours, unit: 'hours' }) * 60 * 60 * 1000;
	const [title, message] = [read('approvalTitle') || 'Approval required', read('message')];
	if (message + reviewText === '') throw new Error('Message: enter what to approve.');
	const picked = [approver, ...(collection ? [{ ...aboutRecord, collection }] : [])];
	const checked: NodeRun = { ...run, checks: { links: 'names', values: true } };
	const [ids] = await bodiesOfItems(checked, { stored: noStoredFields, fields: [], picked, whenCleared: 'skip' });
	const { approver: chosen, record } = orThrow(ids!);
	const about = collection && (await readRecord(api, collection + encodedPath`/${String(record)}`));
	const links = collection && about ? { links: [{ resource: collectionName(collection), id: about.id }] } : {};
	return { title, message, limit, approverId: await approverOf(run, chosen, about), links };
}

/** @returns the id as the CRM has it */
async function approverOf({ api }: NodeRun, chosen: IDataObject[string], about: IDataObject | undefined): Promise<IDataObject[string]> {
	const chosenId = chosen ?? about?.owner_id ?? about?.assignee_id;
	const id = idText(chosenId);
	if (id === undefined) throw new Error('Approver: choose an approver, or under About a record that has an owner, who then approves.');
	// The credential may not read users.
	const user = (await readRecord(api, encodedPath`/users/${id}`).catch(undefinedIfAnsweredWith(403))) ?? {};
	if (typeof user.status !== 'string' || user.status === 'active') return user.id ?? chosenId;
	throw new Error(`Approver: ${String(user.name ?? user.id)} is ${user.status}. Choose an active user.`);
}

/** @param link with which the execution continues */
function taskBody(
	{ n8n, reviewText = '' }: NodeRun,
	{ title, message, approverId, links }: Awaited<ReturnType<typeof readQuestion>>,
	until: Date,
	link: string,
): IDataObject {
	const day = DateTime.fromJSDate(until, { zone: n8n.getTimezone() }).toFormat('yyyy-MM-dd HH:mm ZZZZ');
	const description = [
		// The first line is never the workflow's, whose message could imitate what follows it.
		...(reviewText === '' ? [] : [`According to the CRM, the call would make this change:\n${reviewText}`]),
		`The workflow says:\n${message}`,
		`To approve, set the status of this task to Completed. To decline, delete it. It counts as declined if it is still open on ${day}, or if you change its title or this text.`,
		`The workflow then continues. If it does not, open ${link}`,
	].join('\n\n');
	// A user who cannot see the task cannot approve it.
	return { title, description, assignee_id: approverId, owner_id: approverId, due_at: until.toISOString(), ...links };
}

/** Creates a record once for all attempts of Retry On Fail, which share a key. A retry of the execution has another key and link. */
async function createOnce(
	run: NodeRun,
	description: WriteDescription,
	{ path: collection, body, until }: { path: '/tasks' | '/webhooks'; body: IDataObject; until: Date },
): Promise<string> {
	const runKey = `${run.identity.runKey}/${collection.slice(1, -1)} ${until.toISOString()}`;
	const identity = { ...run.identity, execution: run.n8n.getExecutionId(), runKey };
	const { record } = await sendAlone({ ...run, identity }, description, { collection, path: collection, body }, [0]);
	return String(record.id);
}

/**
 * Lets the CRM call n8n about this task alone, until the time is over: a subscription to all tasks would call each
 * waiting execution for each task, and n8n tells a node neither that its wait is over nor that it was canceled.
 *
 * @returns the id of the subscription; undefined if the CRM cannot limit it so, or refuses to call this n8n
 */
async function subscribeToDecision(run: NodeRun, taskId: string, url: string, end: Date): Promise<string | undefined> {
	const { n8n, api } = run;
	const create = (await api.describe('/webhooks'))?.create;
	const body = {
		url,
		events: [completedEvent, 'task.deleted'],
		filter: { ids: [taskId] },
		expires_at: end.toISOString(),
		description: `n8n approval: ${n8n.getWorkflow().name ?? ''} / ${n8n.getNode().name}`.slice(0, 200),
	};
	const isLimited = ['filter', 'expires_at'].every((name) => create?.fields.some(({ path: [member] }) => member === name));
	const creating = create && isLimited ? createOnce(run, create, { path: '/webhooks', body, until: end }) : undefined;
	const id = await creating?.catch(undefinedIfAnsweredWith(...refusedSubscription));
	if (id === undefined) api.notices.add(noWebhook);
	return id;
}

const noWebhook =
	'The CRM does not call n8n about this task: it cannot limit a webhook to one task, cannot reach this n8n, or does not let the credential create webhooks. The approver has to open the link in the task after completing or deleting it.';

/**
 * Gives each other pending call of this node, such as one that a model makes in the same message, a node of its own. n8n disables the node with
 * which an execution resumes (n8n-core 2.41, handleWaitingState): calls that share it would output their input, perhaps a model's `approved`.
 */
function separateOtherCalls(n8n: IExecuteFunctions): void {
	const { runExecutionData } = n8n as unknown as { runExecutionData: IRunExecutionData };
	const { name } = n8n.getNode();
	for (const call of runExecutionData.executionData?.nodeExecutionStack ?? []) if (call.node.name === name) call.node = { ...call.node };
}
