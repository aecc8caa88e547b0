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
}

export const stepFor = (planned: RecordUndo): UndoStep =>
	({ planned, state: planned.action === undefined ? 'done' : 'waiting', next: planned, outcome: planned });

export function finish(step: UndoStep, outcome: RecordUndo): void {
	step.state = 'done';
	step.outcome = outcome;
}

/** Notes what the CRM has answered to a step's write, and what is still to be written. */
export function noteAnswer(step: UndoStep, answer: IDataObject | Error, fields: UndoFields): void {
	const { next } = step;
	if (!(answer instanceof Error)) {
		finish(step, asStored(next, answer, fields));
		return;
	}
	const { code, existing_id: holder } = refusalDetails(answer);
	const isTaken = code === 'duplicate' && next.action !== 'delete';
	const reason = changedSinceRead(answer);
	const refuse = (why: Explanation): RecordUndo => ({ ...withoutMembers(next, 'action'), changes: allKept(next.changes), ...why });
	if (isNotFound(answer) && next.action === 'delete') finish(step, refuse(explain('alreadyGone')));
	else if (reason !== undefined) finish(step, refuse(explain('changedAfterRead', reason)));
	else {
		const isUpdate = isTaken && next.action === 'update';
		step.outcome = refuse(isUpdate ? explain('valueTaken') : explain('refused', sentences(...textsOfRefusal(answer))));
		if (isTaken && step.state !== 'last') {
			step.state = 'taken';
			step.holder = idText(holder);
			return;
		}
		step.next = withoutRefusedValues(next, answer, fields);
		if (!step.next.action) step.state = 'done';
		else if (step.state === 'taken') step.state = 'waiting';
	}
}

/** The outcome of a write that the CRM has accepted, with the record as it is now. It names the fields that are not as they were. */
export function asStored(undo: RecordUndo, answer: IDataObject, fields: UndoFields): RecordUndo {
	const { action, history, changes } = undo;
	const newId = action === 'create' ? idText(answer.id) : undefined;
	if (newId !== undefined) return { ...undo, record: answer, newId };
	if (action !== 'update') return undo;
	const isOther = (field: string, before: unknown) => hasField(answer, field) && !fields.compare.covers(field, fieldValue(answer, field), before);
	const derived = [...history.fields].flatMap(([name, { before }]) => (!fields.canWrite(action, name) && isOther(name, before) ? [name] : []));
	const otherwise = changes.flatMap(({ field, to, kept }) => (!kept && isOther(field, to) ? [field] : []));
	const stored = changes.map((change): Change => (otherwise.includes(change.field) ? { ...change, kept: true } : change));
	const setAnew = derived.length > 0 ? explain('setAnew', derived.join(', ')).reason : undefined;
	const reason = sentences(undo.reason, setAnew);
	const named = { ...undo, record: answer, changes: stored, ...(reason !== '' && { reason }) };
	return otherwise.length > 0 ? withReason(named, explain('storedOtherwise', otherwise.join(', '))) : named;
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
	return [message, ...lines].map((text) => (/[.!?]$/.test(text) ? text : `${text}.`));
}

const formAdvice = /^(To change .* instead, use Create or Update\.|Correct th(e|at) .*)$/;
