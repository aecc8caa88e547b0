import { refusedWrite } from '../api/http/statuses';
import { undefinedIfAnsweredWith } from '../api/refusals';
import { findRecord } from '../api/record';
import { orThrow } from '../base/results';
import { whyIncomplete } from '../changes/preview';
import { nodeFailure, type NodeFailure } from '../failure';
import { UnsentValuesError } from '../mapping/unsentValues';
import type { NodeRun } from '../model';
import { withRecordName } from '../writing/existingRecord';
import { versionOf } from '../writing/versions';
import { sendAlone } from '../writing/sendAlone';
import { writeInWords, writtenBody, type WriteInWords } from './toolPreview';
import { runFor, type RequestedOperation, type RequestedWrite, type ToolkitAnswer, type ToolkitCall } from './toolkitCall';
import { toolActionNames } from './toolkitSettings';

interface PlannedWrite extends RequestedWrite {
	words: WriteInWords;
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
	const requested: RequestedWrite = { run, description, write, recordToChange: request.recordToChange };
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
 * Checks the token of a call. It is not stored, so any process can check it: it consists of the time, and a signature over
 * the time, the caller, the write, its preview, and the state of the record.
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

/**
 * Sends the write under a key of this identity.
 *
 * @throws NodeFailure whose context says whether the write may have been made
 */
async function send({ n8n, settings }: ToolkitCall, planned: PlannedWrite, identity: NodeRun['identity']): Promise<ToolkitAnswer> {
	const { description, write, recordToChange, words } = planned;
	const run = { ...planned.run, identity };
	// Without a version, a change made since the comparison would be overwritten, which nobody has approved.
	const version = settings.asksFirst ? versionOf(recordToChange?.record) : undefined;
	const versioned = { ...write, ...(version !== undefined && { version }) };
	const sending = sendAlone(run, write.description ?? description, versioned, [0]).catch(async (error: Error) => {
		const failure = await withRecordName(run, nodeFailure(n8n, error, 0), 0);
		failure.context.mayHaveWritten = !isRefusal(failure);
		throw failure;
	});
	const { record: { id }, isReplayed } = await sending;
	// The record may have changed since.
	const done = isReplayed ? `${words.name}: already written, so it was not written again. Read the record for its current values.` : words.short;
	return { data: [{ done, ...(typeof id === 'string' || typeof id === 'number' ? { id } : {}) }], notes: [] };
}

/** Whether the service itself refused the write: only its own errors have a code. */
function isRefusal(failure: NodeFailure): boolean {
	const { mayBeDone, data } = failure.context;
	const { code = '' } = (data ?? {}) as { code?: unknown };
	const isByService = code !== '' && !String(code).startsWith('idempotency');
	return mayBeDone !== true && 'httpCode' in failure && refusedWrite.includes(Number(failure.httpCode)) && isByService;
}
