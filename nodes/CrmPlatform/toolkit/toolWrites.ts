import type { IDataObject } from 'n8n-workflow';

import { refusedWrite } from '../api/http/statuses';
import { orThrow } from '../base/errorOf';
import { missingValue } from '../changes/preview';
import { nodeFailure, type NodeFailure } from '../failure';
import type { Field } from '../fields/field';
import { unsentReports } from '../mapping/unsentValues';
import type { Execution } from '../model';
import { inSentences } from '../toolCalls/toolAnswer';
import { withRecordNames } from '../writing/existingRecord';
import { versionOf } from '../writing/replace';
import { requireWrite } from '../writing/requireWrite';
import { writeOne, type Written } from '../writing/writeOne';
import { checkToken, type RefusedToken } from './previewToken';
import type { ToolAnswer } from './readingTools';
import { writableFields } from './toolFields';
import { writeInWords, writtenBody, type WriteInWords } from './toolPreview';
import { executionFor, type RequestedOperation, type RequestedWrite, type ToolkitCall } from './toolkitCall';
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
	throw new Error(`${previewTooLong(settings.maxLength)} It begins: ${preview.slice(0, 100)}…`);
}

const previewTooLong = (maxLength: number): string =>
	`The preview is longer than the ${maxLength} characters of an answer, and what is not shown cannot be approved. ` +
	'Send fewer records or shorter values at a time; the workflow’s author can raise Maximum Answer Length.';

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
	const requested: RequestedWrite = { execution, description, write, target: request.target };
	return { ...requested, words: await writeInWords(call, fields, requested) };
}

async function preparedWrite(execution: Execution): Promise<Pick<RequestedWrite, 'description' | 'write'>> {
	const { operation } = execution;
	const writes = await operation.prepare(execution);
	if (!('items' in writes)) throw new Error(`${operation.option.name} writes no record.`);
	return { description: writes.description, write: orThrow(writes.items[0]!) };
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

/**
 * Sends the writes one after another, under keys of this identity.
 *
 * @throws NodeFailure that says which writes were made before one failed, and in its context whether any may be
 */
async function send(call: ToolkitCall, writes: PlannedWrite[], identity: Execution['identity']): Promise<ToolAnswer> {
	const done: IDataObject[] = [];
	for (const [index, planned] of writes.entries()) {
		const sending = sendOne(call, planned, index === 0 ? identity : { ...identity, run: `${identity.run}/${index}` });
		done.push(await sending.catch((error: Error) => {
			throw failureOfSent(nodeFailure(call.n8n, error, 0), call, writes, index);
		}));
	}
	return { data: done, notes: [] };
}

async function sendOne({ n8n, settings }: ToolkitCall, planned: PlannedWrite, identity: Execution['identity']): Promise<IDataObject> {
	const { description, write, target } = planned;
	const execution = { ...planned.execution, identity };
	// Without a version, a change made since the comparison would be overwritten, which nobody has approved.
	const version = settings.asksFirst ? versionOf(target?.record) : undefined;
	const sending = writeOne(execution, write.description ?? description, { ...write, ...(version !== undefined && { version }) }, [0]);
	const written = await sending.catch(async (error: Error) => {
		throw await withRecordNames(execution, nodeFailure(n8n, error, 0), 0);
	});
	return reportOf(planned, written);
}

/** What was done, with the id of the record, and the names of a new one. */
function reportOf({ target, words }: PlannedWrite, { record: { id, name, title, subject }, isReplayed }: Written): IDataObject {
	const names = Object.entries({ name, title, subject }).filter(([, value]) => typeof value === 'string' && value !== '');
	return {
		// The record may have changed since.
		done: isReplayed ? `${words.name}: already written, so it was not written again. Read the record for its current values.` : words.short,
		...(typeof id === 'string' || typeof id === 'number' ? { id } : {}),
		...(target || isReplayed ? {} : Object.fromEntries(names)),
	};
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
