import type { IDataObject } from 'n8n-workflow';

import type { Reason } from '../api/http/errorWords';
import { isNotFound } from '../api/record';
import { idText } from '../base/json';
import { pointerSteps, withoutMembers } from '../base/ownMembers';
import { changedSinceRead } from '../changes/apply';
import type { Change } from '../changes/merge';
import { allCustomFields, customFieldPrefix } from '../fields/field';
import { eventName, fieldValue, hasField } from '../log/eventFields';
import { allKept, type RecordUndo, withReason } from './history';
import { explain, type Explanation, sentences } from './reasons';
import type { UndoFields } from './undoFields';

/** A planned undo on its way to its outcome. */
export interface UndoStep {
	readonly planned: RecordUndo;
	/**
	 * - `waiting`: to be written
	 * - `taken`: the CRM has refused a value because another record has it, and it may become free: to be written again
	 * - `last`: to be written without the values that others have, as they will not become free
	 * - `done`: not to be written any more
	 */
	state: 'waiting' | 'taken' | 'last' | 'done';
	/** What is written next: as planned, or without the values that the CRM has refused. Once it is sent, with the links that exist. */
	next: RecordUndo;
	/** What the output says: until the CRM has answered, the plan. */
	outcome: RecordUndo;
	/** If a value is taken: the id of the record that has it, if the CRM reports it. */
	holder?: string | undefined;
	/** Whether it was written without something that is written at the end. */
	isIncomplete?: boolean;
	/** The record as the CRM returned it, once it was written. */
	written?: IDataObject;
}

export const stepFor = (planned: RecordUndo): UndoStep =>
	({ planned, state: planned.action === undefined ? 'done' : 'waiting', next: planned, outcome: planned });

/** What a step becomes when the CRM has answered its write. */
export function afterAnswer(step: UndoStep, answer: IDataObject | Error, fields: UndoFields): UndoStep {
	const { state, next } = step;
	if (!(answer instanceof Error)) return { ...step, state: 'done', outcome: asStored(next, answer, fields), written: answer };
	const refused = (why: Explanation): RecordUndo => ({ ...withoutMembers(next, 'action'), changes: allKept(next.changes), ...why });
	if (isNotFound(answer) && next.action === 'delete') return { ...step, state: 'done', outcome: refused(explain('goneMeanwhile')) };
	const reason = changedSinceRead(answer);
	if (reason !== undefined) return { ...step, state: 'done', outcome: refused(explain('changedAfterRead', reason)) };

	const { code, existing_id: holder } = refusalDetails(answer);
	const isTaken = code === 'duplicate' && next.action !== 'delete';
	const why = isTaken && next.action === 'update' ? explain('valueTaken') : explain('refused', sentences(...textsOfRefusal(answer)));
	const outcome = refused(why);
	if (isTaken && state !== 'last') return { ...step, state: 'taken', outcome, holder: idText(holder) };
	const rest = withoutRefusedValues(next, answer, fields);
	if (!rest.action) return { ...step, state: 'done', outcome };
	return { ...step, state: state === 'last' ? 'last' : 'waiting', outcome, next: rest };
}

/** The outcome of a write that the CRM has accepted. It is reported if other values are stored than those that it was sent. */
export function asStored(undo: RecordUndo, answer: IDataObject, { compare }: UndoFields): RecordUndo {
	const newId = undo.action === 'create' ? idText(answer.id) : undefined;
	if (newId !== undefined) return { ...undo, newId };
	const isDifferent = ({ field, to, kept }: Change) => !kept && hasField(answer, field) && !compare.covers(field, fieldValue(answer, field), to);
	const differing = undo.action === 'update' ? undo.changes.filter(isDifferent) : [];
	if (differing.length === 0) return undo;
	const changes = undo.changes.map((change): Change => (differing.includes(change) ? { ...change, kept: true } : change));
	return withReason({ ...undo, changes }, explain('storedOtherwise', differing.map(({ field }) => field).join(', ')));
}

/** An undo without the values that the CRM has refused by name; without an action if it named none, or if nothing is left. */
function withoutRefusedValues(undo: RecordUndo, refused: Error, fields: UndoFields): RecordUndo {
	const { errors } = refusalDetails(refused);
	const named = (Array.isArray(errors) ? (errors as Reason[]) : []).flatMap(({ pointer }) => (pointer === undefined ? [] : [fieldNameIn(pointer)]));
	const names = fields.withDependents(named);
	const omitted = new Set(undo.changes.flatMap(({ field, kept }) => (!kept && names.has(eventName(field)) ? [eventName(field)] : [])));
	const rest = omitted.size === 0 ? withoutMembers(undo, 'action') : fields.without(undo, names);
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
	return [message, ...lines];
}

const formAdvice = /^(To change .* instead, use Create or Update\.|Correct th(e|at) .*)$/;
