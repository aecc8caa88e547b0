import type { IDataObject } from 'n8n-workflow';

import type { Reason } from '../api/http/errorWords';
import { isNotFound } from '../api/record';
import { hasSameValue, idText } from '../base/json';
import { pointerSteps, withoutMembers } from '../base/ownMembers';
import { changedSinceRead } from '../changes/apply';
import type { Change } from '../changes/merge';
import { allCustomFields, customFieldPrefix } from '../fields/field';
import { eventName, fieldValue, hasField } from '../log/eventFields';
import { explain, type Explanation, sentences } from './reasons';
import { allKept, type RecordUndo, withoutFields, withReason } from './recordUndo';

/** A planned undo on its way to its result. */
export interface UndoStep {
	readonly planned: RecordUndo;
	/**
	 * - `waiting`: to be written when the records exist that it links to
	 * - `taken`: the CRM has refused a value because another record has it, and it may become free: to be written again
	 * - `forced`: to be written without links to missing records, and without refused values
	 * - `incomplete`: was forced; when all others are done, what it lacks is to be written
	 * - `done`: not to be written any more
	 */
	readonly state: 'waiting' | 'taken' | 'forced' | 'incomplete' | 'done';
	/** What is to be written: as planned, but without the values that the CRM has refused. */
	readonly rest: RecordUndo;
	/** The changes that the CRM has accepted. */
	readonly written: Change[];
	/** What the output says: until the CRM has answered, the plan. */
	readonly result: RecordUndo;
	/** If a value is taken: the id of the record that has it, if the CRM reports it. */
	readonly holder?: string | undefined;
}

export type StepEvent =
	/** @param sent the rest, without links to missing records */
	| { is: 'answered'; sent: RecordUndo; answer: IDataObject | Error }
	/** Nothing more can be written. */
	| { is: 'ended'; result: RecordUndo }
	/** All pending steps wait for each other. */
	| { is: 'deadlocked' };

export const stepFor = (planned: RecordUndo): UndoStep =>
	({ planned, state: planned.action === undefined ? 'done' : 'waiting', rest: planned, written: [], result: planned });

export function nextStep(step: UndoStep, event: StepEvent): UndoStep {
	if (event.is === 'deadlocked') return { ...step, state: 'forced' };
	if (event.is === 'ended') return finish(step, event.result);
	const { sent } = event;
	return event.answer instanceof Error ? afterRefusal(step, sent, event.answer) : afterWrite(step, sent, event.answer);
}

/** What an undo would write that the CRM has not accepted yet. */
export const changesToSend = ({ written }: UndoStep, { changes }: RecordUndo): Change[] =>
	changes.filter(({ field, to, kept }) => !kept && !written.some((change) => change.field === field && hasSameValue(change.to, to)));

function afterWrite(step: UndoStep, sent: RecordUndo, answer: IDataObject): UndoStep {
	// What completes a creation is sent as an update.
	const result = asStored({ ...sent, action: step.planned.action! }, answer);
	if (step.state === 'incomplete') return { ...step, state: 'done', result };
	return finish({ ...step, written: changesToSend(step, sent) }, result);
}

function afterRefusal(step: UndoStep, sent: RecordUndo, refusal: Error): UndoStep {
	const result: RecordUndo = { ...withoutMembers(sent, 'action'), changes: allKept(sent.changes), ...explainRefusal(sent, refusal) };
	if (changedSinceRead(refusal) !== undefined) return finish(step, result);
	const isForced = step.state === 'forced' || step.state === 'incomplete';
	if (!isForced && isValueTaken(sent, refusal)) {
		return { ...step, state: 'taken', result, holder: idText(refusalDetails(refusal).existing_id) };
	}
	const rest = withoutRefusedValues(step.rest, refusal);
	if (!rest.action) return finish(step, result);
	if (step.state === 'incomplete') return { ...step, rest };
	return { ...step, state: isForced ? 'forced' : 'waiting', rest, result };
}

function explainRefusal(sent: RecordUndo, refusal: Error): Explanation {
	if (sent.action === 'delete' && isNotFound(refusal)) return explain('alreadyGone');
	const change = changedSinceRead(refusal);
	if (change !== undefined) return explain('changedAfterRead', change);
	if (sent.action === 'update' && isValueTaken(sent, refusal)) return explain('valueTaken');
	return explain('refused', sentences(...textsOfRefusal(refusal)));
}

const isValueTaken = ({ action }: RecordUndo, refusal: Error): boolean => action !== 'delete' && refusalDetails(refusal).code === 'duplicate';

/** Ends a step. If it was forced and its record exists, what it lacks is left. What cannot be completed keeps its result. */
function finish(step: UndoStep, result: RecordUndo): UndoStep {
	if (step.state === 'incomplete') return { ...step, state: 'done' };
	const { record, newId } = result;
	if (step.state !== 'forced' || !record) return { ...step, state: 'done', result };
	const rest: RecordUndo = { ...step.planned, action: 'update', record, ...(newId !== undefined && { newId }) };
	return { ...step, state: 'incomplete', rest, result };
}

/** The result of a write that the CRM has accepted, with the record as it is now. It names the fields that are not as sent. */
export function asStored(undo: RecordUndo, answer: IDataObject): RecordUndo {
	const { action, changes, fields } = undo;
	const newId = action === 'create' ? idText(answer.id) ?? undo.newId : undefined;
	if (action === 'delete' || (action === 'create' && newId === undefined)) return undo;
	const isStoredOtherwise = ({ field, to, kept }: Change) =>
		!kept && hasField(answer, field) && !fields.compare.covers(field, fieldValue(answer, field), to);
	const stored = changes.map((change): Change => (isStoredOtherwise(change) ? { ...change, kept: true } : change));
	const otherwise = changes.flatMap((change) => (isStoredOtherwise(change) ? [change.field] : []));
	const result: RecordUndo = { ...undo, record: answer, changes: stored, ...(newId !== undefined && { newId }) };
	return otherwise.length > 0 ? withReason(result, explain('storedOtherwise', otherwise.join(', '))) : result;
}

/** An undo without the values that the CRM has refused by name; without an action if it named none, or if nothing is left. */
function withoutRefusedValues(undo: RecordUndo, refused: Error): RecordUndo {
	const { errors } = refusalDetails(refused);
	const named = (Array.isArray(errors) ? (errors as Reason[]) : []).flatMap(({ pointer }) => (pointer === undefined ? [] : [fieldNameIn(pointer)]));
	const names = undo.fields.withDependents(named);
	const omitted = new Set(undo.changes.flatMap(({ field, kept }) => (!kept && names.has(eventName(field)) ? [eventName(field)] : [])));
	const rest = omitted.size === 0 ? withoutMembers(undo, 'action') : withoutFields(undo, names);
	return withReason(rest, explain('valuesRefused', [...omitted].join(', ')), ...textsOfRefusal(refused));
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
	return [message, ...lines].map((text) => (/[.!?]$/.test(text) ? text : `${text}.`));
}

const formAdvice = /^(To change .* instead, use Create or Update\.|Correct th(e|at) .*)$/;
