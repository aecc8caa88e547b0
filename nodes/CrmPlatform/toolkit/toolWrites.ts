import type { IDataObject } from 'n8n-workflow';

import { refusedWrite } from '../api/http/statuses';
import { findRecord, isAnsweredWith } from '../api/record';
import { orThrow } from '../base/errorOf';
import { whyIncomplete } from '../changes/preview';
import { nodeFailure, type NodeFailure } from '../failure';
import type { Field } from '../fields/field';
import { unsentReports } from '../mapping/unsentValues';
import type { NodeRun } from '../model';
import { inSentences } from '../toolCalls/toolAnswer';
import { withRecordName } from '../writing/existingRecord';
import { versionOf } from '../writing/replace';
import { requireWrite } from '../writing/requireWrite';
import { sendAlone } from '../writing/sendAlone';
import type { ToolAnswer } from './readingTools';
import { writeInWords, writtenBody, type WriteInWords } from './toolPreview';
import { executionFor, writableFields, type RequestedOperation, type RequestedWrite, type ToolkitCall } from './toolkitCall';
import { toolActionNames } from './toolSettings';

interface PlannedWrite extends RequestedWrite {
	words: WriteInWords;
}

/**
 * Prepares all writes before it sends the first one, so that a value that is refused here leaves nothing
 * half done. With Preview Before Writing, the first call returns a preview, and the call with its token writes.
 *
 * @throws Error in the model's words; nothing was written unless the error says so
 */
export async function writeOrPreview(call: ToolkitCall, requested: RequestedOperation[]): Promise<ToolAnswer> {
	const fields = await writableFields(call);
	const writes: PlannedWrite[] = [];
	for (const request of requested) writes.push(await plannedWrite(call, fields, request));
	if (!call.settings.asksFirst) return await send(call, writes, call.identity);

	const preview = writes.map(({ words }) => words.full).join('. ');
	const check = await checkToken(call, writes, preview, Date.now());
	if ('refusal' in check) return previewAnswer(call, writes, preview, check);
	// The idempotency key contains only the token, so the service carries out a write once, whichever call sends it.
	const { instance, workflow } = call.identity;
	return await send(call, writes, { instance, workflow, execution: '', node: 'approved', run: check.approved });
}

/** @throws Error in the model's words if the preview is too long for an answer */
function previewAnswer(
	{ settings }: ToolkitCall,
	writes: PlannedWrite[],
	preview: string,
	{ newToken, refusal }: RefusedToken,
): ToolAnswer {
	if (writes.every(({ words }) => words.isUnchanged)) {
		const values = writes.map(({ words }) => words.short).join('. ');
		return { data: [{ done: 'nothing' }], notes: [`The record has these values already: ${values}`] };
	}
	const data = [{ preview, token: newToken }];
	const instruction = 'Nothing is written yet. Show the preview; once the user agrees, call again with the same arguments and this token.';
	const note = refusal === '' ? instruction : `${refusal} ${instruction}`;
	if (JSON.stringify([...data, { note }]).length <= settings.maxLength) return { data, notes: [note] };
	throw new Error(
		`The preview is longer than the ${settings.maxLength} characters of an answer, and what is not shown cannot be approved. ` +
		'Send fewer records or shorter values at a time; the workflow’s author can raise Maximum Answer Length. ' +
		`It begins: ${preview.slice(0, 100)}…`,
	);
}

/** Prepares a write as the node would, and describes it. @throws Error in the model's words */
async function plannedWrite(call: ToolkitCall, fields: Field[], request: RequestedOperation): Promise<PlannedWrite> {
	const execution = executionFor(call, request);
	const { operation } = execution;
	const preparing = (async () => await operation.prepare(execution))();
	const prepared = await preparing.catch((error: Error) => error);
	if (unsentReports(call.api).length > 0) throw new Error(await describeUnsentValues(call, execution));
	if (prepared instanceof Error) throw prepared;
	if (!('items' in prepared)) throw new Error(`${operation.option.name} writes no record.`);
	const { description } = prepared;
	const write = orThrow(prepared.items[0]!);
	const problem = operation.option.value === 'create' ? whyIncomplete(description.fields, writtenBody(write)) : undefined;
	if (problem !== undefined) throw new Error(problem);
	const requested: RequestedWrite = { execution, description, write, target: request.target };
	return { ...requested, words: await writeInWords(call, fields, requested) };
}

/** Explains to a model which values were not sent: other operations may accept the field. */
async function describeUnsentValues({ api, settings, recordType }: ToolkitCall, execution: NodeRun): Promise<string> {
	const { name } = execution.operation.option;
	const fieldNames = (await requireWrite(execution)).fields.map((field) => field.name);
	const explanations = unsentReports(api).map(({ reason, names, notice }) =>
		(reason === 'unknown' ? `${name} does not take ${names}.` : notice));
	const actions = toolActionNames(recordType);
	const instead = actions === '' ? '' : ` ${settings.prefix}_act sets other fields: ${actions}.`;
	return `${explanations.join(' ')} ${name} takes ${fieldNames.slice(0, 60).join(', ')}.${instead}`;
}

interface RefusedToken {
	/** Why the token of the call is not one for exactly these writes; empty if it has none. */
	refusal: string;
	newToken: string;
}

/** Services keep idempotency keys for a day: a token that lived longer could write twice. */
const lifetime = 20 * 60 * 60 * 1000;

/**
 * Checks the token of a call. It is not stored, so any process can check it: it consists of the time, the caller, and a
 * signature over both, the writes, their preview, and the state of the records.
 *
 * @returns the token, if the user has approved exactly these writes with it
 * @throws Error in the model's words for a token of another key or user: services keep idempotency keys for each caller
 */
async function checkToken(
	call: ToolkitCall,
	writes: PlannedWrite[],
	preview: string,
	now: number,
): Promise<{ approved: string } | RefusedToken> {
	const caller = await callerOf(call);
	const approved = approvedContent(call, writes, preview);
	const tokenOf = (madeAt: string) => [madeAt, caller, call.api.sign(JSON.stringify([madeAt, caller, approved]))].join('.');
	const refused = (refusal: string): RefusedToken => ({ refusal, newToken: tokenOf(now.toString(36)) });
	// A model may end a sentence with the token.
	const token = call.args.text('token')?.replace(/\.$/, '');
	if (token === undefined) return refused('');
	const [madeAt = '', madeBy = '', ...others] = token.split('.');
	const createdAt = parseInt(madeAt, 36);
	if (others.length !== 1 || Number.isNaN(createdAt)) return refused('This is not a preview token.');
	if (now - createdAt > lifetime) return refused('The preview is too old.');
	if (madeBy !== caller) throw new Error(anotherCaller);
	return token === tokenOf(madeAt) ? { approved: token } : refused(otherPreview);
}

/** What a user approves, and where. */
function approvedContent({ n8n, api, recordType }: ToolkitCall, writes: PlannedWrite[], preview: string): unknown[] {
	const approvedWrites = writes.map(({ execution, target, write, description }) => [
		recordType.name,
		execution.operation.option.value,
		description.method,
		write.path,
		write.query ?? null,
		write.body ?? null,
		// A service without versions has its whole record compared.
		target ? (versionOf(target.record) ?? target.record) : null,
	]);
	const origin = [n8n.getInstanceId(), n8n.getWorkflow().id, n8n.getNode().name, api.viewer];
	return [origin, preview, approvedWrites];
}

const anotherCaller =
	'The credential has another API key or user than at the time of the preview, so the write may have been made already. ' +
	'Look at the records first; if it was not made, call again without the token.';

const otherPreview =
	'This token belongs to another preview: the values differ, or a record has changed since the preview, ' +
	'by someone else or by this write, which was already made with the same token.';

/**
 * Names whoever signs in: the credential's key, and for OAuth2 its user. If the service does not say who that is, another
 * access token counts as another caller.
 *
 * @throws NodeApiError
 */
async function callerOf({ n8n, api }: ToolkitCall): Promise<string> {
	const isUser = n8n.getNode().parameters.authentication === 'oAuth2';
	const user = isUser ? await findRecord(api, '/users/me').catch((error: unknown) => {
		if (isAnsweredWith(error, 403)) return undefined;
		throw error;
	}) : undefined;
	return api.sign(JSON.stringify(['caller', api.viewer, user?.id ?? (isUser ? api.secretDigest : '')])).slice(0, 8);
}

/**
 * Sends the writes one after another, under keys of this identity.
 *
 * @throws NodeFailure that says which writes were made before one failed, and in its context whether any may be
 */
async function send(call: ToolkitCall, writes: PlannedWrite[], identity: NodeRun['identity']): Promise<ToolAnswer> {
	const done: IDataObject[] = [];
	for (const [index, planned] of writes.entries()) {
		const execution = { ...planned.execution, identity: index === 0 ? identity : { ...identity, run: `${identity.run}/${index}` } };
		done.push(await sendOne(call, planned, execution).catch(async (error: Error) => {
			throw failureOfSent(await withRecordName(execution, nodeFailure(call.n8n, error, 0), 0), call, writes, index);
		}));
	}
	return { data: done, notes: [] };
}

async function sendOne({ settings }: ToolkitCall, planned: PlannedWrite, execution: NodeRun): Promise<IDataObject> {
	const { description, write, target, words } = planned;
	// Without a version, a change made since the comparison would be overwritten, which nobody has approved.
	const version = settings.asksFirst ? versionOf(target?.record) : undefined;
	const versioned = { ...write, ...(version !== undefined && { version }) };
	const { record: { id }, isReplayed } = await sendAlone(execution, write.description ?? description, versioned, [0]);
	// The record may have changed since.
	const done = isReplayed ? `${words.name}: already written, so it was not written again. Read the record for its current values.` : words.short;
	return { done, ...(typeof id === 'string' || typeof id === 'number' ? { id } : {}) };
}

function failureOfSent(failure: NodeFailure, { n8n }: ToolkitCall, writes: PlannedWrite[], failedAt: number): NodeFailure {
	const isPartial = writes.length > 1 && (failedAt > 0 || mayBeDone(failure));
	const failureOfAll = isPartial ? nodeFailure(n8n, new Error(partlyDone(failure, writes, failedAt)), 0) : failure;
	failureOfAll.context.mayHaveWritten = isPartial || !isRefusal(failure);
	return failureOfAll;
}

/** Whether a write that failed may have been carried out. */
const mayBeDone = ({ context }: NodeFailure): boolean => context.mayBeDone === true;

/** Whether the service itself refused the write: only its own errors have a code. */
function isRefusal(failure: NodeFailure): boolean {
	const { code = '' } = (failure.context.data ?? {}) as { code?: unknown };
	const isByService = code !== '' && !String(code).startsWith('idempotency');
	return !mayBeDone(failure) && 'httpCode' in failure && refusedWrite.includes(Number(failure.httpCode)) && isByService;
}

/** Says which writes were carried out before one failed. */
function partlyDone(failure: NodeFailure, writes: PlannedWrite[], failedAt: number): string {
	const descriptions = writes.map(({ words }) => words.short);
	const left = descriptions.length - failedAt - 1;
	return [
		...(failedAt > 0 ? [`Done: ${descriptions.slice(0, failedAt).join('. ')}.`] : []),
		mayBeDone(failure)
			? `May have been done; check first: ${descriptions[failedAt]}. The response was: ${inSentences(failure.message)}`
			: `Not done: ${descriptions[failedAt]}, since ${inSentences(failure.message)}`,
		...(left > 0 ? [left === 1 ? 'One more was not tried.' : `${left} more were not tried.`] : []),
	].join(' ');
}
