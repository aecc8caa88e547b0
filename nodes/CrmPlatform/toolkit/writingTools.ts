import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { undefinedIfAnsweredWith } from '../api/refusals';
import { findRecord } from '../api/record';
import { idText } from '../base/json';
import { checkExact } from '../base/numbers';
import { setMember } from '../base/ownMembers';
import { orThrow } from '../base/results';
import { whyIncomplete } from '../changes/preview';
import { nodeFailure, withRecordName } from '../failure';
import { wordsOf } from '../mapping/fieldNames';
import { UnsentValuesError } from '../mapping/unsentValues';
import type { NodeRun } from '../model';
import { isBlank } from '../values/blank';
import { versionOf } from '../writing/versions';
import { sendAlone } from '../writing/sendAlone';
import { namedRecord } from './namedRecord';
import { writeInWords, writtenBody, type PlannedWrite } from './toolPreview';
import { availableOperation, picked, runFor, type RequestedOperation, type ToolkitAnswer, type ToolkitCall } from './toolkitCall';
import { toolActionNames, toolkitChanges, type ToolkitType } from './toolkitSettings';

/** The write of a call of crm_change. @throws Error in the model's words */
export async function requestedChange(call: ToolkitCall): Promise<RequestedOperation> {
	const { args, toolkitType, settings } = call;
	const verb = args.choice('action', settings.changeVerbs);
	const operation = availableOperation(toolkitType, toolkitChanges[verb].operation);
	if (!toolkitType.changeVerbs.includes(verb)) throw needsSend(toolkitType, verb);
	const accepted: readonly string[] = toolkitChanges[verb].args;
	args.acceptOnly(verb, accepted);
	const fields = accepted.includes('values') ? changedValues(call) : {};
	const tag = accepted.includes('tag') ? args.text('tag') : '';
	if (tag === undefined) throw new Error('tag is missing. Send the name or the id of a tag.');
	const parameters = {
		...(verb === 'upsert' && { fieldsMatchOn: args.choice('match_on', call.description.upsert?.match?.values ?? []) }),
		...(accepted.includes('tag') && { tagId: picked(tag, 'name') }),
	};
	const recordToChange = accepted.includes('record') ? await namedRecord(call, args.text('record')) : undefined;
	return { operation, parameters, fields, recordToChange };
}

const needsSend = ({ name }: ToolkitType, doing: string): Error =>
	new Error(`A ${name} leaves the CRM, so ${doing} is not allowed. The workflow’s author can allow it with Send in May Write.`);

function changedValues({ args, settings }: ToolkitCall): IDataObject {
	const values = args.object('values');
	const names = Object.keys(values);
	if (names.length === 0) {
		throw new Error(`values is missing. Send an object of fields and values; ${settings.prefix}_describe lists the fields.`);
	}
	const id = names.find((name) => wordsOf(name) === 'id');
	if (id === undefined) return values;
	throw new Error(`values must not contain ${id}: the CRM assigns the id of a new record, and record names the one to change.`);
}

/** The write of a call of crm_act. @throws Error in the model's words */
export async function requestedAction(call: ToolkitCall): Promise<RequestedOperation> {
	const { args, toolkitType } = call;
	const { toolActions } = toolkitType;
	if (toolActions.length === 0 && toolkitType.leavesTheCrm) throw needsSend(toolkitType, 'acting on it');
	if (toolActions.length === 0) throw new Error(`There is no action for a ${toolkitType.name}. Use another kind.`);
	const action = args.choice('action', toolActions.map(({ option }) => String(option.value)));
	const operation = availableOperation(toolkitType, action);
	const properties = operation.properties(toolkitType.resource);
	const takesRecord = properties.some(({ name }) => name === 'recordId');
	if (!takesRecord && args.text('record') !== undefined) {
		throw new Error(`${action} creates a new ${toolkitType.name}: omit record, and send values.`);
	}
	const recordToChange = takesRecord ? await namedRecord(call, args.text('record')) : undefined;
	const { picks, fields } = valuesOfAction(args.object('values'), action, properties);
	// A stage without a pipeline belongs to the deal's pipeline: other pipelines may have stages of the same name.
	const pipelineId = idText(recordToChange?.record.pipeline_id);
	const pipeline = picks.stageId !== undefined && pipelineId !== undefined ? { pipelineId: picked(pipelineId, 'id') } : {};
	return { operation, parameters: { ...pipeline, ...picks }, fields, recordToChange };
}

/** The values of an action: records that it lets users pick, and fields. @throws Error in the model's words */
function valuesOfAction(values: IDataObject, action: string, properties: INodeProperties[]) {
	const pickers = properties.filter(({ name, type }) => type === 'resourceLocator' && name !== 'recordId');
	const takesFields = properties.some(({ name }) => name === 'fieldsMode');
	const [picks, fields]: [RequestedOperation['parameters'], IDataObject] = [{}, {}];
	for (const [name, value] of Object.entries(values)) {
		const words = wordsOf(name);
		const isMeant = (label: string) => words === wordsOf(label) || words === `${wordsOf(label)}id`;
		const picker = pickers.find((candidate) => [candidate.name, candidate.displayName].some(isMeant));
		if (picker && picks[picker.name] !== undefined) throw new Error(`${name} and another name mean the ${picker.displayName}. Send it once.`);
		if (!picker && !takesFields) {
			const taken = pickers.map(({ displayName }) => displayName.toLowerCase()).join(', ') || 'no values';
			throw new Error(`${action} does not take ${name}. It takes ${taken}.`);
		}
		if (picker) checkExact(name, value);
		if (!picker) setMember(fields, name, value);
		else if (!isBlank(value)) picks[picker.name] = picked(String(value), 'name');
	}
	return { picks, fields };
}

/**
 * Makes the write that a model requests. With Preview Before Writing, the first call returns a preview, and the call with its
 * token writes.
 *
 * @throws Error in the model's words; nothing was written unless the error says so
 */
export async function writeOrPreview(call: ToolkitCall, request: RequestedOperation): Promise<ToolkitAnswer> {
	const planned = await planWrite(call, request);
	if (!call.settings.asksFirst) return await send(call, planned, call.identity);
	const check = await checkToken(call, planned, Date.now());
	if ('refusal' in check) return previewAnswer(call, planned, check);
	// The idempotency key contains only the token, so the service carries out a write once, whichever call sends it.
	const { instance, workflow } = call.identity;
	return await send(call, planned, { instance, workflow, execution: '', node: 'approved', runKey: check.approved });
}

/** @throws Error in the model's words if the preview is too long for an answer */
function previewAnswer({ settings }: ToolkitCall, { words }: PlannedWrite, { newToken, refusal }: RefusedToken): ToolkitAnswer {
	if (words.isUnchanged) return { data: [{ done: 'nothing' }], notes: [`The record has these values already: ${words.short}`] };
	const data = [{ preview: words.full, token: newToken }];
	const instruction = 'Nothing is written yet. Show the preview; once the user agrees, call again with the same arguments and this token.';
	const note = refusal === '' ? instruction : `${refusal} ${instruction}`;
	if (JSON.stringify([...data, { note }]).length <= settings.maxLength) return { data, notes: [note] };
	throw new Error(
		`The preview is longer than the ${settings.maxLength} characters of an answer, and what is not shown cannot be approved. ` +
		'Send shorter values; the workflow’s author can raise Maximum Answer Length. ' +
		`It begins: ${words.full.slice(0, 100)}…`,
	);
}

/** Prepares a write as the node would, and describes it. @throws Error in the model's words */
async function planWrite(call: ToolkitCall, request: RequestedOperation): Promise<PlannedWrite> {
	const run = runFor(call, request);
	const { operation } = run;
	const prepared = await operation.prepare(run);
	if (!('writes' in prepared)) throw new Error(`${operation.option.name} writes no record.`);
	const { description, writes: [result] } = prepared;
	if (result instanceof UnsentValuesError) {
		const actions = toolActionNames(call.toolkitType);
		throw actions === '' ? result : new Error(`${result.message} ${call.settings.prefix}_act sets other fields: ${actions}.`);
	}
	const write = orThrow(result!);
	const problem = operation.option.value === 'create' ? whyIncomplete(description.fields, writtenBody(write)) : undefined;
	if (problem !== undefined) throw new Error(problem);
	const requested = { run, description, write, recordToChange: request.recordToChange };
	return { ...requested, words: await writeInWords(call, requested) };
}

interface RefusedToken {
	/** Why the token of the call is not one for exactly this write; empty if it has none. */
	refusal: string;
	newToken: string;
}

/** Services keep idempotency keys for a day: a token that lived longer could write twice. */
const lifetime = 20 * 60 * 60 * 1000;

/**
 * Checks the token, as any process can: it is the time, and a signature over that, the caller, the write, its preview and the record's state.
 *
 * @returns the token, if the user has approved exactly this write with it
 */
async function checkToken(call: ToolkitCall, planned: PlannedWrite, now: number): Promise<{ approved: string } | RefusedToken> {
	const content = [await callerOf(call), approvedContent(call, planned)];
	const tokenOf = (madeAt: string) => `${madeAt}.${call.api.sign(JSON.stringify([madeAt, ...content]))}`;
	const refused = (refusal: string): RefusedToken => ({ refusal, newToken: tokenOf(now.toString(36)) });
	// A model may end a sentence with the token.
	const token = call.args.text('token')?.replace(/\.$/, '');
	if (token === undefined) return refused('');
	const [, madeAt = ''] = /^([0-9a-z]+)\.[^.]+$/.exec(token) ?? [];
	if (madeAt === '') return refused('This is not a preview token.');
	if (now - parseInt(madeAt, 36) > lifetime) return refused('The preview is too old.');
	return token === tokenOf(madeAt) ? { approved: token } : refused(otherPreview);
}

/** What a user approves, and where. */
function approvedContent({ n8n, toolkitType }: ToolkitCall, { run, recordToChange, write, description, words }: PlannedWrite): unknown[] {
	const origin = [n8n.getInstanceId(), n8n.getWorkflow().id, n8n.getNode().name];
	const request = [description.method, write.path, write.query ?? null, write.body ?? null];
	// A service without versions has its whole record compared.
	const state = recordToChange ? (versionOf(recordToChange.record) ?? recordToChange.record) : null;
	return [origin, words.full, toolkitType.name, run.operation.option.value, request, state];
}

const otherPreview =
	'This token belongs to another preview: the values or the user of the credential differ, or a record has changed since the preview, ' +
	'by someone else or by this write, which was already made with the same token.';

/**
 * Whoever signs in, as the service keeps idempotency keys for each: the credential's key, and for OAuth2 its user. If the
 * service does not say who that is, another access token counts as another caller.
 *
 * @throws NodeApiError
 */
async function callerOf({ n8n, api }: ToolkitCall): Promise<unknown[]> {
	const isUser = n8n.getNode().parameters.authentication === 'oAuth2';
	const user = isUser ? await findRecord(api, '/users/me').catch(undefinedIfAnsweredWith(403)) : undefined;
	return [api.viewer, user?.id ?? (isUser ? api.secretDigest : '')];
}

/** @throws NodeFailure whose context says whether the write may have been made */
async function send({ n8n, api, settings }: ToolkitCall, planned: PlannedWrite, identity: NodeRun['identity']): Promise<ToolkitAnswer> {
	const { description, write, recordToChange, words } = planned;
	const run = { ...planned.run, identity };
	// Without a version, a change made since the comparison would be overwritten, which nobody has approved.
	const version = settings.asksFirst ? versionOf(recordToChange?.record) : undefined;
	const versioned = { ...write, ...(version !== undefined && { version }) };
	const sending = sendAlone(run, write.description ?? description, versioned, [0]).catch(async (error: Error) => {
		const failure = await withRecordName(run.api, nodeFailure(n8n, error, 0), () => write.collection);
		failure.context.mayHaveWritten = api.mayHaveWritten();
		throw failure;
	});
	const { record: { id }, isReplayed } = await sending;
	// The record may have changed since.
	const done = isReplayed ? `${words.name}: already written, so it was not written again. Read the record for its current values.` : words.short;
	return { data: [{ done, ...(typeof id === 'string' || typeof id === 'number' ? { id } : {}) }], notes: [] };
}
