import { NodeApiError, type IDataObject } from 'n8n-workflow';

import { findRecord, isAnsweredWith } from '../api/record';
import { errorOf } from '../base/errorOf';
import { missingValue } from '../changes/preview';
import type { Execution } from '../model';
import { unsentReports } from '../mapping/unsentValues';
import { requireWrite } from '../writing/requireWrite';
import { nodeFailure } from '../failure';
import { nameExisting } from '../writing/existingRecord';
import { versionOf } from '../writing/replace';
import { writeOne, type Written } from '../writing/writeOne';
import { inSentences } from '../toolCalls/toolAnswer';
import type { ToolAnswer } from './readingTools';
import { executionFor, writeIdentity, type PlannedWrite, type RequestedWrite, type ToolRun } from './toolRun';
import { actionNames } from './toolSettings';
import { changesNothing, describePlannedWrite, nameOfWrite, writtenBody } from './toolPreview';

/**
 * Prepares all writes before it sends the first one, so that a value that is refused here leaves nothing
 * half done. With Preview Before Writing, the first call returns a preview, and the call with its token writes.
 *
 * @throws Error in the model's words; nothing was written unless the error says so
 */
export async function doWrites(run: ToolRun, requestedWrites: RequestedWrite[], token: string | undefined): Promise<ToolAnswer> {
	const writes: PlannedWrite[] = [];
	for (const write of requestedWrites) writes.push(await planWrite(run, write));
	const describing = async (isComplete: boolean) => await Promise.all(writes.map(async (write) => await describePlannedWrite(run, write, isComplete)));
	const { asksFirst, maxLength } = run.settings;
	if (!asksFirst) return await send(run, writes, await describing(false));

	const now = Date.now();
	const preview = (await describing(true)).join('. ');
	// A model may end a sentence with the token.
	const text = token?.replace(/\.$/, '');
	const refusal = text === undefined ? '' : await refusalOfToken(run, writes, preview, text, now);
	// The idempotency key contains only the token, so the service carries out a write once, whichever call sends it.
	const { instance, workflow } = run.identity;
	if (text !== undefined && refusal === undefined) return await send({ ...run, identity: { instance, workflow, execution: '', node: 'approved', run: text } }, writes, await describing(false));

	const areUnchanged = await Promise.all(writes.map(async (write) => await changesNothing(run, write)));
	if (areUnchanged.every(Boolean)) return { data: [{ done: 'nothing' }], notes: [`The record has these values already: ${(await describing(false)).join('. ')}`] };
	const data = [{ preview, token: tokenFor(run, writes, preview, now.toString(36), await callerOf(run)) }];
	const note = `${refusal ? `${refusal} ` : ''}Nothing is written yet. Show the preview; once the user agrees, call again with the same arguments and this token.`;
	if (JSON.stringify([...data, { note }]).length > maxLength) throw new Error(`${tooLong(maxLength)} It begins: ${preview.slice(0, 100)}…`);
	return { data, notes: [note] };
}

const tooLong = (maxLength: number): string =>
	`The preview is longer than the ${maxLength} characters of an answer, and what is not shown cannot be approved. Send fewer records or shorter values at a time; the workflow’s author can raise Maximum Answer Length.`;

/** Services keep idempotency keys for a day: a token that lived longer could write twice. */
const lifetime = 20 * 60 * 60 * 1000;

/**
 * A token for these writes. It is not stored, so any process can check it: it consists of the time, the caller, and a signature
 * over both, the writes, their preview, and the state of the records.
 */
function tokenFor({ n8n, api }: ToolRun, writes: PlannedWrite[], preview: string, ...parts: [madeAt: string, caller: string]): string {
	const signedWrites = writes.map(({ recordType, operation, target, write, writes: { description } }) => [
		recordType.name,
		operation.option.value,
		description.method,
		write.path,
		write.query ?? null,
		write.body ?? null,
		// A service without versions has its whole record compared.
		target ? (versionOf(target.record) ?? target.record) : null,
	]);
	const origin = [n8n.getInstanceId(), n8n.getWorkflow().id, n8n.getNode().name, api.view];
	return [...parts, api.sign(JSON.stringify([origin, parts, preview, signedWrites]))].join('.');
}

/**
 * Why a token is not one for exactly these writes; undefined if it is.
 *
 * @throws Error for a token of another key or user: services keep idempotency keys for each caller
 */
async function refusalOfToken(run: ToolRun, writes: PlannedWrite[], preview: string, token: string, now: number): Promise<string | undefined> {
	const parts = token.split('.');
	const [madeAt = '', caller = ''] = parts;
	const createdAt = parseInt(madeAt, 36);
	if (parts.length !== 3 || Number.isNaN(createdAt)) return 'This is not a preview token.';
	if (now - createdAt > lifetime) return 'The preview is too old.';
	if (caller !== await callerOf(run)) throw new Error(anotherCaller);
	return token === tokenFor(run, writes, preview, madeAt, caller) ? undefined : otherPreview;
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
async function callerOf({ n8n, api }: ToolRun): Promise<string> {
	const isUser = n8n.getNode().parameters.authentication === 'oAuth2';
	const reading = async () => await findRecord(api, '/v1/users/me');
	const user = isUser
		? await reading().catch((error: unknown) => {
			if (isAnsweredWith(error, 403)) return undefined;
			throw error;
		})
		: undefined;
	return api.sign(JSON.stringify(['caller', api.view, user?.id ?? (isUser ? api.secretDigest : '')])).slice(0, 8);
}

/** Says which writes were carried out before one failed. */
function partlyDone(failed: Error, descriptions: string[], failedAt: number): string {
	const left = descriptions.length - failedAt - 1;
	return [
		...(failedAt > 0 ? [`Done: ${descriptions.slice(0, failedAt).join('. ')}.`] : []),
		mayBeDone(failed)
			? `May have been done; check first: ${descriptions[failedAt]}. The response was: ${inSentences(failed.message)}`
			: `Not done: ${descriptions[failedAt]}, since ${inSentences(failed.message)}`,
		...(left > 0 ? [left === 1 ? 'One more was not tried.' : `${left} more were not tried.`] : []),
	].join(' ');
}

/** Whether a write that failed may have been carried out. */
const mayBeDone = (error: Error): boolean => error instanceof NodeApiError && error.context.mayBeDone === true;

async function planWrite(run: ToolRun, requested: RequestedWrite): Promise<PlannedWrite> {
	const execution = executionFor(run, requested);
	const planning = plan(execution);
	const failed = await errorOf(planning);
	if (unsentReports(run.api).length > 0) throw new Error(await describeUnsentValues(run, requested, execution));
	if (failed) throw failed;
	const { writes, write } = await planning;
	const missing = requested.operation.option.value === 'create' ? missingValue(writes.description.fields, writtenBody(write)) : undefined;
	if (missing !== undefined) throw new Error(missing);
	return { ...requested, execution, writes, write };
}

async function plan(execution: Execution): Promise<Pick<PlannedWrite, 'write' | 'writes'>> {
	const writes = await execution.operation.prepare(execution);
	if (!('of' in writes)) throw new Error(`${execution.operation.option.name} writes no record.`);
	return { writes, write: writes.of(0) };
}

/** Explains to a model which values were not sent: other operations may accept the field. */
async function describeUnsentValues({ settings }: ToolRun, { recordType, operation }: RequestedWrite, execution: Execution): Promise<string> {
	const { name } = operation.option;
	const fieldNames = (await requireWrite(execution)).fields.map((field) => field.name);
	const explanations = unsentReports(execution.api).map(({ reason, names, notice }) =>
		(reason === 'unknown' ? `${name} does not take ${names}.` : notice));
	const actions = actionNames(recordType, settings.verbs);
	const instead = actions === '' ? '' : ` ${settings.prefix}_act sets other fields: ${actions}.`;
	return `${explanations.join(' ')} ${name} takes ${fieldNames.slice(0, 60).join(', ')}.${instead}`;
}

async function send(run: ToolRun, writes: PlannedWrite[], descriptions: string[]): Promise<ToolAnswer> {
	const done: IDataObject[] = [];
	for (const [i, write] of writes.entries()) {
		const sending = sendOne(run, write, i);
		const failed = await errorOf(sending);
		if (failed) {
			const isPartlyDone = done.length > 0 || (writes.length > 1 && mayBeDone(failed));
			throw isPartlyDone ? new Error(partlyDone(failed, descriptions, i)) : failed;
		}
		const { record: { id, name, title, subject }, isReplayed } = await sending;
		const names = Object.entries({ name, title, subject }).filter(([, value]) => typeof value === 'string' && value !== '');
		done.push({
			// The record may have changed since.
			done: isReplayed ? `${nameOfWrite(write)}: already written, so it was not written again. Read the record for its current values.` : descriptions[i]!,
			...(typeof id === 'string' || typeof id === 'number' ? { id } : {}),
			...(write.target || isReplayed ? {} : Object.fromEntries(names)),
		});
	}
	return { data: done, notes: [] };
}

async function sendOne(run: ToolRun, { execution, target, write, writes }: PlannedWrite, place: number): Promise<Written> {
	const description = write.description ?? writes.description;
	// Without a version, a change made since the comparison would be overwritten, which nobody has approved.
	const version = run.settings.asksFirst ? versionOf(target?.record) : undefined;
	const identified = { ...execution, identity: writeIdentity(run, place) };
	run.onWrite();
	return await writeOne(identified, description, { ...write, ...(version !== undefined && { version }) }, [0]).catch(async (error: Error) => {
		throw await nameExisting(identified)(nodeFailure(run.n8n, error, 0), 0);
	});
}
