import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';

import { isAnsweredWith, isNotFound, isWebPage } from '../api/record';
import type { Reason } from '../api/http/errorWords';
import { outdatedVersion, refusedRecord } from '../api/http/statuses';
import type { WriteDescription } from '../api/openapi/writing';
import { idText } from '../base/json';
import { getOrCreate } from '../base/maps';
import { pointerSteps } from '../base/ownMembers';
import { type ChangeWrite, writeChanges } from '../changes/apply';
import type { Change } from '../changes/merge';
import { exactBody } from '../fields/exactBody';
import { allCustomFields, customFieldPrefix } from '../fields/field';
import type { Execution, MayContinue } from '../model';
import { protectionOf } from '../writing/replace';
import { eventName, fieldValue, hasField, setField } from './fieldValues';
import { allKept, type RecordUndo } from './recordUndo';
import type { FieldsByCollection, UndoFields } from './undoFields';

/** The write that carries out an undo. */
function writeFor({ action, current, changes, history: { deletion } }: RecordUndo, fields: UndoFields): ChangeWrite {
	if (action === 'delete') return { record: current! };
	const body: IDataObject = {};
	for (const { field, to, kept } of changes) if (!kept) setField(body, field, to ?? null);
	// Numbers that the log has as text, as they would lose digits otherwise, are sent as numbers again.
	const exact = exactBody(fields.writtenFields(action!), body);
	return action === 'create' ? { body: exact, deletion: deletion!.event } : { body: exact, record: current! };
}

/**
 * Sends the writes of undos as every operation does: in batches, under idempotency keys and versions. A creation is sent
 * alone, under a key that names the deletion, so that the log shows which record was created for which.
 *
 * @returns the records as the service returned them, or its refusals, in the order of the undos, up to the first error that does not concern just one record
 */
export async function sendUndoWrites(
	execution: Execution,
	fields: FieldsByCollection,
	undos: RecordUndo[],
): Promise<{ answers: Array<IDataObject | Error>; error?: Error }> {
	const signal = execution.n8n.getExecutionCancelSignal();
	const mayContinue: MayContinue = (results) => !signal?.aborted && !results.some((result) => result instanceof Error && !isRefusal(result));
	const answers: Array<IDataObject | Error> = [];
	for (let start = 0; start < undos.length; start = answers.length) {
		const { action, history: { collection } } = undos[start]!;
		const end = undos.findIndex((undo, i) => i > start && (undo.action !== action || undo.history.collection !== collection));
		const group = undos.slice(start, end === -1 ? undefined : end);
		const typeFields = fields.get(collection);
		const description = typeFields?.description?.[action!];
		if (!description || description.refusal !== undefined) {
			const refusal = new Error(description?.refusal ?? `The CRM’s API cannot ${action} records of ${collection}. Undo this change by hand.`);
			answers.push(...group.map(() => refusal));
			continue;
		}
		const writes = group.map((undo) => writeFor(undo, typeFields));
		// A repeated undo makes another plan, and must not repeat the keys of an earlier one.
		const run = randomUUID();
		for await (const { outcome } of writeChanges(execution, description, { collection: `/v1${collection}`, writes, run }, mayContinue)) {
			if (outcome instanceof Error && !isRefusal(outcome)) return { answers, error: outcome };
			answers.push(outcome);
		}
		if (signal?.aborted) return { answers, error: new Error('The execution was canceled') };
	}
	return { answers };
}

/** Whether an error concerns just one record, so that the next write may succeed. */
const isRefusal = (error: Error): boolean => isAnsweredWith(error, ...refusedRecord) && !isWebPage(error);

/** Tells the user if the service cannot prevent a plan from overwriting what others change meanwhile. */
export function warnIfUnprotected(execution: Execution, fields: FieldsByCollection, undos: RecordUndo[]): void {
	const recordsByDescription = new Map<WriteDescription, IDataObject[]>();
	for (const { action, current, history } of undos) {
		const description = action && fields.get(history.collection)?.description?.[action];
		if (!description || !current) continue;
		getOrCreate(recordsByDescription, description, () => []).push(current);
	}
	for (const [description, records] of recordsByDescription) protectionOf(execution, description, records);
}

/** Returns the outcome of an undo, according to the service's answer to its write. */
export function afterWrite(undo: RecordUndo, answer: IDataObject | Error, fields: UndoFields): RecordUndo {
	if (answer instanceof Error) return afterRefusal(undo, answer, fields);
	if (undo.action === 'update') return afterUpdate(undo, answer, fields);
	const newId = undo.action === 'create' ? idText(answer.id) : undefined;
	return newId === undefined ? undo : { ...undo, newId };
}

function afterRefusal(undo: RecordUndo, refused: Error, fields: UndoFields): RecordUndo {
	const { action, ...rest } = { ...undo, changes: allKept(undo.changes) };
	if (isNotFound(refused)) {
		return action === 'delete'
			? { ...rest, result: 'already_so', reason: 'The record is gone, or no longer visible to the credential.' }
			: { ...rest, result: 'conflict', reason: 'Someone else deleted the record while the undo ran.' };
	}
	if (isAnsweredWith(refused, outdatedVersion)) {
		return { ...rest, result: 'conflict', reason: 'Someone else changed the record while the undo ran. Nothing was overwritten.' };
	}
	const { code, existing_id: existingId } = refusalDetails(refused);
	const holder = idText(existingId);
	const isDuplicate = code === 'duplicate';
	const nextAttempt = withoutRefusedValues(undo, refused, fields);
	return {
		...rest,
		...(isDuplicate && { isDuplicate: true as const, ...(holder !== undefined && { holder }) }),
		...(nextAttempt && { nextAttempt }),
		result: 'cannot_be_undone',
		reason: isDuplicate && action === 'update' ? duplicateValue : ['The CRM refused it:', ...textsOfRefusal(refused)].join(' '),
	};
}

/** Reports the fields in which the service has stored other values than those that it was sent. */
function afterUpdate(undo: RecordUndo, record: IDataObject, { compare }: UndoFields): RecordUndo {
	const isDifferent = ({ field, to, kept }: Change) => !kept && hasField(record, field) && !compare.covers(field, fieldValue(record, field), to);
	const differing = undo.changes.filter(isDifferent);
	if (differing.length === 0) return undo;
	const changes = undo.changes.map((change): Change => (differing.includes(change) ? { ...change, kept: true } : change));
	const message = `The CRM stored other values than the previous ones in ${differing.map(({ field }) => field).join(', ')}. Check the record.`;
	return { ...undo, changes, reason: [undo.reason, message].filter(Boolean).join(' '), result: 'cannot_be_undone' };
}

/** Removes the values that the service refused by name from an undo; undefined if it named none, or if nothing is left. */
function withoutRefusedValues(undo: RecordUndo, refused: Error, fields: UndoFields): RecordUndo | undefined {
	const { errors } = refusalDetails(refused);
	const reasons = Array.isArray(errors) ? (errors as Reason[]) : [];
	const namedFields = new Set(reasons.flatMap(({ pointer }) => (pointer === undefined ? [] : [fieldNameIn(pointer)])));
	// Without its place, such as its stage, the service would put the record elsewhere.
	if (undo.action === 'create' && [...namedFields].some((name) => fields.isPlacement(name))) return undefined;
	const refusedFields = fields.withDependents(namedFields);
	const isRefused = ({ field, kept }: Change) => !kept && refusedFields.has(eventName(field));
	const omittedFields = new Set(undo.changes.filter(isRefused).map(({ field }) => eventName(field)));
	const changes = undo.changes.map((change): Change => (isRefused(change) ? { ...change, kept: true } : change));
	if (omittedFields.size === 0 || changes.every(({ kept }) => kept)) return undefined;
	const message = `The CRM refused ${[...omittedFields].join(', ')}; the other values were restored.`;
	const reason = [undo.reason, message, ...textsOfRefusal(refused)].filter(Boolean).join(' ');
	return { ...undo, changes, reason, result: 'cannot_be_undone' };
}

/** The name of the field in a pointer (RFC 6901), as events name it. */
function fieldNameIn(pointer: string): string {
	const [first = '', second] = pointerSteps(pointer.replace(/^#?\/?items\/\d+(?=\/)/, ''));
	return first === allCustomFields && second !== undefined ? customFieldPrefix + second : first;
}

/** The members of the problem (RFC 9457) that the service reported. */
const refusalDetails = (refused: Error): IDataObject => ((refused as { context?: IDataObject }).context?.data ?? {}) as IDataObject;

/** The service's message without advice about a form, which an undo does not have. */
function textsOfRefusal(refused: Error): string[] {
	const { message, description } = refused as { message: string; description?: string | null };
	const lines = (description ?? '').split('\n').filter((line) => line !== '' && !formAdvice.test(line));
	return [message, ...lines];
}

const formAdvice = /^(To change .* instead, use Create or Update\.|Correct th(e|at) .*)$/;
const duplicateValue = 'Another record now has one of the previous values, which must be unique.';
