import { NodeApiError, type IDataObject } from 'n8n-workflow';

import { isAnsweredWith } from '../api/record';
import { outdatedVersion } from '../api/http/statuses';
import { errorOf } from '../base/errorOf';
import { missingValue } from '../changes/preview';
import { writeRecords } from '../writing/batches';
import type { Execution } from '../model';
import { unsentReports } from '../mapping/unsentValues';
import { requireWrite } from '../writing/requireWrite';
import { nodeFailure } from '../failure';
import { nameExisting } from '../writing/existingRecord';
import { checkedToken, isServiceVersion, isUnchanged, tokenFor } from './previewToken';
import { inSentences } from '../toolCalls/toolAnswer';
import type { ToolAnswer } from './readingTools';
import { executionFor, writeIdentity, type PlannedWrite, type RequestedWrite, type ToolRun } from './toolRun';
import { actionNames } from './toolSettings';
import { writtenBody, changesNothing, readableValuesOf, describeRepeatedWrite, describePlannedWrite } from './toolPreview';

/**
 * Prepares all writes before it sends the first one, so that a value that is refused here leaves nothing
 * half done. With Preview Before Writing, the first call returns a preview, and the call with its token writes.
 *
 * @throws Error in the model's words; nothing was written unless the error says so
 */
export async function doWrites(run: ToolRun, requestedWrites: RequestedWrite[], token: string | undefined): Promise<ToolAnswer> {
	const now = Date.now();
	const plannedWrites: PlannedWrite[] = [];
	for (const write of requestedWrites) plannedWrites.push(await planWrite(run, write));
	const { asksFirst, maxLength } = run.settings;
	const descriptionsOf = async (isComplete: boolean) =>
		await Promise.all(plannedWrites.map(async (write) => await describePlannedWrite(run, write, isComplete)));
	const preview = async (reason = ''): Promise<ToolAnswer> => {
		const data = [{ preview: (await descriptionsOf(true)).join('. '), token: await tokenFor(run, plannedWrites, now) }];
		const note = `${reason}${reason && ' '}Nothing is written yet. Show the preview; once the user agrees, call again with the same arguments and this token.`;
		if (JSON.stringify([...data, { note }]).length > maxLength) {
			throw new Error(`${tooLong(maxLength)} It begins: ${data[0]!.preview.slice(0, 100)}…`);
		}
		return { data, notes: [note] };
	};
	const descriptions = await descriptionsOf(false);
	if (!asksFirst) return await send(run, plannedWrites, descriptions);
	const previewUnlessUnchanged = async (reason?: string) => {
		const areUnchanged = await Promise.all(plannedWrites.map(async (write) => await changesNothing(run, write)));
		return areUnchanged.every(Boolean) ? unchanged(descriptions) : await preview(reason);
	};
	if (token === undefined) return await previewUnlessUnchanged();
	const checked = await checkedToken(run, plannedWrites, token, now);
	const missing = plannedWrites.find(({ target }) => target?.notFound)?.target?.notFound;
	if (typeof checked === 'string') {
		if (missing) throw missing;
		return await previewUnlessUnchanged(checked);
	}
	// If the changed record were found only on sending, the writes before it would have been carried out.
	if (plannedWrites.length > 1 && plannedWrites.some((write, i) => !write.target?.notFound && !isUnchanged(write, checked.versions[i]))) {
		if (missing) throw new Error(`Another of the records has changed since the preview. ${missing.message}`);
		return await preview(changed);
	}
	// The idempotency key contains only the token, so the service carries out a write once, whichever call sends it.
	const approved: ToolRun = { ...run, identity: { execution: '', node: 'approved', run: checked.text } };
	const results = send(approved, plannedWrites, descriptions, checked.versions);
	return await results.catch(async (error: Error) => {
		if (!(error instanceof ChangedSince || isAnsweredWith(error, outdatedVersion))) throw error;
		return await previewUnlessUnchanged(changed);
	});
}

const changed = 'A record has changed since the preview: someone else changed it, or this write was already made with the same token.';

const tooLong = (maxLength: number): string =>
	`The preview is longer than the ${maxLength} characters of an answer, and what is not shown cannot be approved. Send fewer records or shorter values at a time; the workflow’s author can raise Maximum Answer Length.`;

class ChangedSince extends Error {}

/** Thrown when some of the writes were carried out before one failed. */
export class PartlyDone extends Error {}

function partlyDone(failed: Error, descriptions: string[], failedAt: number): string {
	const isChanged = failed instanceof ChangedSince || isAnsweredWith(failed, outdatedVersion);
	const why = isChanged ? 'the record has changed since the preview.' : failed.message;
	const left = descriptions.length - failedAt - 1;
	return [
		...(failedAt > 0 ? [`Done: ${descriptions.slice(0, failedAt).join('. ')}.`] : []),
		mayBeDone(failed)
			? `May have been done; check first: ${descriptions[failedAt]}. The response was: ${inSentences(why)}`
			: `Not done: ${descriptions[failedAt]}, since ${inSentences(why)}`,
		...(left > 0 ? [left === 1 ? 'One more was not tried.' : `${left} more were not tried.`] : []),
	].join(' ');
}

/** Whether a write that failed may have been carried out. */
const mayBeDone = (error: Error): boolean => error instanceof NodeApiError && error.context.mayBeDone === true;

const unchanged = (descriptions: string[]): ToolAnswer =>
	({ data: [{ done: 'nothing' }], notes: [`The record has these values already: ${descriptions.join('. ')}`] });

async function planWrite(run: ToolRun, requested: RequestedWrite): Promise<PlannedWrite> {
	const execution = executionFor(run, requested);
	const planning = plan(execution);
	const failed = await errorOf(planning);
	if (unsentReports(run.api).length > 0) throw new Error(await describeUnsentValues(run, requested, execution));
	if (failed) throw failed;
	const { writes, write } = await planning;
	const body = writtenBody(write);
	const missing = requested.operation.option.value === 'create' ? missingValue(writes.description.fields, body) : undefined;
	if (missing !== undefined) throw new Error(missing);
	return { ...requested, execution, writes, write, readableValues: await readableValuesOf(run, requested.recordType, body) };
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

async function send(run: ToolRun, writes: PlannedWrite[], descriptions: string[], versions?: string[]): Promise<ToolAnswer> {
	const done: IDataObject[] = [];
	for (const [i, write] of writes.entries()) {
		if (write.target?.notFound) {
			done.push({ done: `${descriptions[i]!} has already been deleted` });
			continue;
		}
		const sending = sendOne(run, write, i, versions?.[i]);
		const failed = await errorOf(sending);
		if (failed) {
			const isPartlyDone = done.length > 0 || (writes.length > 1 && mayBeDone(failed));
			throw isPartlyDone ? new PartlyDone(partlyDone(failed, descriptions, i)) : failed;
		}
		const { record, isRepeated } = await sending;
		const { id, name, title, subject } = record;
		const names = Object.entries({ name, title, subject }).filter(([, value]) => typeof value === 'string' && value !== '');
		const nameFields = Object.fromEntries(names);
		const outcomeText = isRepeated ? await describeRepeatedWrite(run, write, String(write.target?.id ?? id)) : descriptions[i]!;
		done.push({
			done: outcomeText,
			...(typeof id === 'string' || typeof id === 'number' ? { id } : {}),
			...(write.target || isRepeated ? {} : nameFields),
		});
	}
	return { data: done, notes: [] };
}

async function sendOne(
	run: ToolRun,
	planned: PlannedWrite,
	place: number,
	version: string | undefined,
): Promise<{ record: IDataObject; isRepeated: boolean }> {
	const { target, write, writes: { description, resultFrom } } = planned;
	const isConditional = version !== undefined && target !== undefined;
	const byService = isConditional && description.takesIfMatch === true && isServiceVersion(planned, version);
	if (isConditional && !byService && !isUnchanged(planned, version)) throw new ChangedSince();
	const execution: Execution = { ...planned.execution, identity: writeIdentity(run, place) };
	const conditional = byService ? { ...write, version } : write;
	let isRepeated = false;
	const sending = writeRecords(execution, {
		description,
		of: () => conditional,
		resultFrom(record, item, answer) {
			isRepeated = answer.isReplayed === true && planned.operation.option.value !== 'delete';
			return resultFrom(record, item, answer);
		},
	});
	run.onWrite();
	const [result] = await sending.read([0]).send(() => true);
	if (result instanceof Error) throw await nameExisting(execution)(nodeFailure(run.n8n, result, 0), 0);
	return { record: (result ?? {}) as IDataObject, isRepeated };
}
