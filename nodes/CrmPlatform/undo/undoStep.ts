import type { IDataObject } from 'n8n-workflow';

import type { Reason } from '../api/http/errorWords';
import { isNotFound, refusalText } from '../api/refusals';
import { hasSameValue, idText } from '../base/json';
import { pointerSteps } from '../base/ownMembers';
import { changedSinceRead } from '../changes/sendChanges';
import type { FieldChange } from '../changes/plan';
import { allCustomFields, customFieldPrefix } from '../fields/field';
import { eventName, fieldValue, hasField } from '../log/eventFields';
import { explain, type Explanation, sentences } from './reasons';
import { allKept, type RecordUndo, withoutFields, withExplanations } from './recordUndo';

/** A planned undo on its way to its result. When it is written, and when it is forced, is decided in `undoWrites.ts`. */
export interface UndoStep {
	planned: RecordUndo;
	/**
	 * - `waiting`: to be written when the records exist that it links to
	 * - `taken`: the CRM has refused a value because another record has it, and it may become free: to be written again
	 * - `forced`: to be written without links to missing records, and without refused values
	 * - `incomplete`: was forced; when all others are done, what it lacks is to be written
	 * - `done`: not to be written any more
	 */
	state: 'waiting' | 'taken' | 'forced' | 'incomplete' | 'done';
	/** What is to be written: as planned, but without the values that the CRM has refused. */
	toWrite: RecordUndo;
	/** What the output says: until the CRM has answered, the plan. */
	result: RecordUndo;
	/** If a value is taken: the id of the record that has it, if the CRM reports it. */
	takenBy?: string | undefined;
	/** The changes that the CRM has accepted. */
	written: FieldChange[];
}

export const firstStep = (planned: RecordUndo): UndoStep =>
	({ planned, state: planned.action === undefined ? 'done' : 'waiting', toWrite: planned, result: planned, written: [] });

/** Whether a step is still to be written, but for what completes it at the end. */
export const isPending = ({ state }: UndoStep): boolean => state !== 'done' && state !== 'incomplete';

/** The changes of an undo that the CRM has not accepted yet. */
export const changesToSend = ({ written }: UndoStep, { changes }: RecordUndo): FieldChange[] =>
	changes.filter(({ field, to, kept }) => !kept && !written.some((change) => change.field === field && hasSameValue(change.to, to)));

/** @param sent what was to be written, without links to missing records */
export function stepAfter(step: UndoStep, sent: RecordUndo, answer: IDataObject | Error): UndoStep {
	if (!(answer instanceof Error)) {
		// What completes a creation is sent as an update.
		const stored = asStored({ ...sent, action: step.planned.action! }, answer);
		return ended({ ...step, result: stored, written: changesToSend(step, sent) }, stored);
	}
	const result: RecordUndo = { ...sent, action: undefined, changes: allKept(sent.changes), ...explainRefusal(sent, answer) };
	if (changedSinceRead(answer) !== undefined) return ended(step, result);
	const isForced = step.state === 'forced' || step.state === 'incomplete';
	if (!isForced && isValueTaken(sent, answer)) return { ...step, state: 'taken', result, takenBy: idText(refusalDetails(answer).existing_id) };
	const toWrite = withoutRefusedValues(step.toWrite, answer);
	if (!toWrite.action) return ended(step, result);
	return { ...withResult(step, result), toWrite, state: isForced ? step.state : 'waiting' };
}

/** The step when nothing is left to write. If it was forced and its record exists, what it lacks is yet to be written. */
export function ended(step: UndoStep, result: RecordUndo): UndoStep {
	const { record, newId } = result;
	if (step.state !== 'forced' || record === undefined) return { ...withResult(step, result), state: 'done' };
	return { ...step, result, state: 'incomplete', toWrite: { ...step.planned, action: 'update', record, newId } };
}

/** What cannot be completed keeps its result. */
const withResult = (step: UndoStep, result: RecordUndo): UndoStep => (step.state === 'incomplete' ? step : { ...step, result });

function explainRefusal(sent: RecordUndo, refusal: Error): Explanation {
	if (sent.action === 'delete' && isNotFound(refusal)) return explain('alreadyGone');
	const change = changedSinceRead(refusal);
	if (change !== undefined) return explain('changedAfterRead', change);
	if (sent.action === 'update' && isValueTaken(sent, refusal)) return explain('valueTaken');
	return explain('refused', refusalText(refusal, sentences(...textsOfRefusal(refusal))));
}

const isValueTaken = ({ action }: RecordUndo, refusal: Error): boolean => action !== 'delete' && refusalDetails(refusal).code === 'duplicate';

/** The result of a write that the CRM has accepted, with the record as it is now. It names the fields that are not as sent. */
export function asStored(undo: RecordUndo, answer: IDataObject): RecordUndo {
	const { action, changes, fields } = undo;
	const newId = action === 'create' ? idText(answer.id) ?? undo.newId : undo.newId;
	if (action === 'delete' || (action === 'create' && newId === undefined)) return undo;
	const isStoredOtherwise = ({ field, to, kept }: FieldChange) =>
		!kept && hasField(answer, field) && !fields.compare.covers(field, fieldValue(answer, field), to);
	const otherwise = new Set(changes.filter(isStoredOtherwise));
	const stored = changes.map((change): FieldChange => (otherwise.has(change) ? { ...change, kept: true } : change));
	const result: RecordUndo = { ...undo, record: answer, changes: stored, newId };
	if (otherwise.size === 0) return result;
	return withExplanations(result, explain('storedOtherwise', [...otherwise].map(({ field }) => field).join(', ')));
}

/** An undo without the values that the CRM has refused by name; without an action if it named none, or if nothing is left. */
function withoutRefusedValues(undo: RecordUndo, refusal: Error): RecordUndo {
	const { errors } = refusalDetails(refusal);
	const named = (Array.isArray(errors) ? (errors as Reason[]) : []).flatMap(({ pointer }) => (pointer === undefined ? [] : [fieldNameIn(pointer)]));
	const names = undo.fields.withDependents(named);
	const omitted = new Set(undo.changes.flatMap(({ field, kept }) => (!kept && names.has(eventName(field)) ? [eventName(field)] : [])));
	const rest = omitted.size === 0 ? { ...undo, action: undefined } : withoutFields(undo, names);
	const { result, reason } = explain('valuesRefused', [...omitted].join(', '));
	return withExplanations(rest, { result, reason: sentences(reason, ...textsOfRefusal(refusal)) });
}

/** The name of the field in a pointer (RFC 6901), as events name it. */
function fieldNameIn(pointer: string): string {
	const [first = '', second] = pointerSteps(pointer.replace(/^#?\/?items\/\d+(?=\/)/, ''));
	return first === allCustomFields && second !== undefined ? customFieldPrefix + second : first;
}

/** The members of the problem (RFC 9457) that the service reported. */
const refusalDetails = (refusal: Error): IDataObject => ((refusal as { context?: IDataObject }).context?.data ?? {}) as IDataObject;

/** The service's message without advice about a form, which an undo does not have. */
function textsOfRefusal(refusal: Error): string[] {
	const { message, description } = refusal as { message: string; description?: string | null };
	const lines = (description ?? '').split('\n').filter((line) => line !== '' && !formAdvice.test(line));
	return [message, ...lines].map((text) => (/[.!?]$/.test(text) ? text : `${text}.`));
}

const formAdvice = /^(To change .* instead, use Create or Update\.|Correct th(e|at) .*)$/;
