import { NodeApiError, type IDataObject } from 'n8n-workflow';

import { findRecord, isAnsweredWith } from '../api/record';
import type { WriteDescription } from '../api/openapi/writing';
import { missingValue } from '../changes/preview';
import { nodeFailure } from '../failure';
import type { Field } from '../fields/field';
import { unsentReports } from '../mapping/unsentValues';
import type { Execution, Write } from '../model';
import { inSentences } from '../toolCalls/toolAnswer';
import { nameExisting } from '../writing/existingRecord';
import { versionOf } from '../writing/replace';
import { requireWrite } from '../writing/requireWrite';
import { writeOne } from '../writing/writeOne';
import type { ToolAnswer } from './readingTools';
import { writableFields } from './toolFields';
import { writeInWords, writtenBody, type WriteInWords } from './toolPreview';
import { executionFor, type NamedRecord, type RequestedOperation, type ToolkitCall } from './toolkitCall';
import { toolActionNames } from './toolSettings';

/** A write that the model requests, as it would be sent. */
interface PlannedWrite {
	execution: Execution;
	description: WriteDescription;
	write: Write;
	target: NamedRecord | undefined;
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

	const now = Date.now();
	const caller = await callerOf(call);
	const preview = writes.map(({ words }) => words.full).join('. ');
	const approved = textToSign(call, writes, preview);
	// A model may end a sentence with the token.
	const token = call.args.text('token')?.replace(/\.$/, '');
	const refusal = token === undefined ? '' : refusalOfToken(call, token, approved, caller, now);
	if (token === undefined || refusal !== undefined) {
		return previewAnswer(call, writes, preview, signedToken(call, now.toString(36), caller, approved), refusal);
	}
	// The idempotency key contains only the token, so the service carries out a write once, whichever call sends it.
	const { instance, workflow } = call.identity;
	return await send(call, writes, { instance, workflow, execution: '', node: 'approved', run: token });
}

/** @throws Error in the model's words if the preview is too long for an answer */
function previewAnswer({ settings }: ToolkitCall, writes: PlannedWrite[], preview: string, token: string, refusal = ''): ToolAnswer {
	if (writes.every(({ words }) => words.isUnchanged)) {
		const values = writes.map(({ words }) => words.short).join('. ');
		return { data: [{ done: 'nothing' }], notes: [`The record has these values already: ${values}`] };
	}
	const data = [{ preview, token }];
	const instruction = 'Nothing is written yet. Show the preview; once the user agrees, call again with the same arguments and this token.';
	const note = refusal === '' ? instruction : `${refusal} ${instruction}`;
	if (JSON.stringify([...data, { note }]).length <= settings.maxLength) return { data, notes: [note] };
	throw new Error(`${previewTooLong(settings.maxLength)} It begins: ${preview.slice(0, 100)}…`);
}

const previewTooLong = (maxLength: number): string =>
	`The preview is longer than the ${maxLength} characters of an answer, and what is not shown cannot be approved. Send fewer records or shorter values at a time; the workflow’s author can raise Maximum Answer Length.`;

/** Prepares a write as the node would, and describes it. @throws Error in the model's words */
async function plannedWrite(call: ToolkitCall, fields: Field[], request: RequestedOperation): Promise<PlannedWrite> {
	const execution = executionFor(call, request);
	const { operation } = execution;
	const prepared = await preparedWrite(execution).catch((error: Error) => error);
	if (unsentReports(call.api).length > 0) throw new Error(await describeUnsentValues(call, execution));
	if (prepared instanceof Error) throw prepared;
	const { description, write } = prepared;
	const missing = operation.option.value === 'create' ? missingValue(description.fields, writtenBody(write)) : undefined;
	if (missing !== undefined) throw new Error(missing);
	const { target } = request;
	return { execution, description, write, target, words: await writeInWords(call, fields, { operation, description, write, target }) };
}

async function preparedWrite(execution: Execution): Promise<Pick<PlannedWrite, 'description' | 'write'>> {
	const { operation } = execution;
	const writes = await operation.prepare(execution);
	if (!('of' in writes)) throw new Error(`${operation.option.name} writes no record.`);
	return { description: writes.description, write: writes.of(0) };
}

/** Explains to a model which values were not sent: other operations may accept the field. */
async function describeUnsentValues({ api, settings, recordType }: ToolkitCall, execution: Execution): Promise<string> {
	const { name } = execution.operation.option;
	const fieldNames = (await requireWrite(execution)).fields.map((field) => field.name);
	const explanations = unsentReports(api).map(({ reason, names, notice }) =>
		(reason === 'unknown' ? `${name} does not take ${names}.` : notice));
	const actions = toolActionNames(recordType);
	const instead = actions === '' ? '' : ` ${settings.prefix}_act sets other fields: ${actions}.`;
	return `${explanations.join(' ')} ${name} takes ${fieldNames.slice(0, 60).join(', ')}.${instead}`;
}

/** Sends the writes one after another, under keys of this identity. @throws Error that says which writes were made before one failed */
async function send(call: ToolkitCall, writes: PlannedWrite[], identity: Execution['identity']): Promise<ToolAnswer> {
	const done: IDataObject[] = [];
	for (const [place, { description, execution, target, words, write }] of writes.entries()) {
		const identified = { ...execution, identity: place === 0 ? identity : { ...identity, run: `${identity.run}/${place}` } };
		// Without a version, a change made since the comparison would be overwritten, which nobody has approved.
		const version = call.settings.asksFirst ? versionOf(target?.record) : undefined;
		call.hasSent = true;
		const sending = writeOne(identified, write.description ?? description, { ...write, ...(version !== undefined && { version }) }, [0]);
		const { record: { id, name, title, subject }, isReplayed } = await sending.catch(async (error: Error) => {
			const failure = await nameExisting(identified)(nodeFailure(call.n8n, error, 0), 0);
			throw writes.length > 1 && (place > 0 || mayBeDone(failure)) ? new Error(partlyDone(failure, writes, place)) : failure;
		});
		const names = Object.entries({ name, title, subject }).filter(([, value]) => typeof value === 'string' && value !== '');
		done.push({
			// The record may have changed since.
			done: isReplayed ? `${words.name}: already written, so it was not written again. Read the record for its current values.` : words.short,
			...(typeof id === 'string' || typeof id === 'number' ? { id } : {}),
			...(target || isReplayed ? {} : Object.fromEntries(names)),
		});
	}
	return { data: done, notes: [] };
}

/** Whether a write that failed may have been carried out. */
const mayBeDone = (error: Error): boolean => error instanceof NodeApiError && error.context.mayBeDone === true;

/** Says which writes were carried out before one failed. */
function partlyDone(failed: Error, writes: PlannedWrite[], failedAt: number): string {
	const descriptions = writes.map(({ words }) => words.short);
	const left = descriptions.length - failedAt - 1;
	return [
		...(failedAt > 0 ? [`Done: ${descriptions.slice(0, failedAt).join('. ')}.`] : []),
		mayBeDone(failed)
			? `May have been done; check first: ${descriptions[failedAt]}. The response was: ${inSentences(failed.message)}`
			: `Not done: ${descriptions[failedAt]}, since ${inSentences(failed.message)}`,
		...(left > 0 ? [left === 1 ? 'One more was not tried.' : `${left} more were not tried.`] : []),
	].join(' ');
}

/** Services keep idempotency keys for a day: a token that lived longer could write twice. */
const tokenLifetime = 20 * 60 * 60 * 1000;

/** What a token stands for: the writes, their preview, and the state of the records, in this node and account. */
function textToSign({ n8n, api, recordType }: ToolkitCall, writes: PlannedWrite[], preview: string): string {
	const signedWrites = writes.map(({ execution, target, write, description }) => [
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
	return JSON.stringify([origin, preview, signedWrites]);
}

/** A token is not stored, so any process can check it: it consists of the time, the caller, and a signature over both and the text. */
const signedToken = ({ api }: ToolkitCall, madeAt: string, caller: string, text: string): string =>
	[madeAt, caller, api.sign(JSON.stringify([madeAt, caller, text]))].join('.');

/**
 * Why a token is not one for exactly these writes; undefined if it is.
 *
 * @throws Error for a token of another key or user: services keep idempotency keys for each caller
 */
function refusalOfToken(call: ToolkitCall, token: string, text: string, caller: string, now: number): string | undefined {
	const [madeAt = '', madeBy = '', ...others] = token.split('.');
	const createdAt = parseInt(madeAt, 36);
	if (others.length !== 1 || Number.isNaN(createdAt)) return 'This is not a preview token.';
	if (now - createdAt > tokenLifetime) return 'The preview is too old.';
	if (madeBy !== caller) throw new Error(anotherCaller);
	return token === signedToken(call, madeAt, caller, text) ? undefined : otherPreview;
}

const anotherCaller =
	'The credential has another API key or user than at the time of the preview, so the write may have been made already. Look at the records first; if it was not made, call again without the token.';

const otherPreview =
	'This token belongs to another preview: the values differ, or a record has changed since the preview, by someone else or by this write, which was already made with the same token.';

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
