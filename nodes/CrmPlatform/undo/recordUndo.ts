import type { IDataObject } from 'n8n-workflow';

import type { FieldChange } from '../changes/apply';
import { nameInEvents } from '../log/eventFields';
import { explain, type Explanation, sentences, type UndoResult } from './reasons';
import type { RecordHistory } from './recordHistories';
import type { UndoFields } from './undoFields';

export interface RecordToUndo {
	history: RecordHistory;
	fields: UndoFields;
}

/** What an undo does to one record, as it is planned, sent or done. */
export interface RecordUndo extends RecordToUndo {
	result: UndoResult;
	/** The restored values. Fields are named as in events, and members of an object by themselves: `address.city`. */
	changes: FieldChange[];
	/** The values that the write does not take: the service may set them itself. */
	notSent?: FieldChange[];
	reason?: string;
	/** Absent if nothing is written. */
	action?: 'update' | 'delete' | 'create' | undefined;
	/** The record to change or delete. */
	record?: IDataObject;
	/** Id of the record that was created in place of a deleted one. */
	newId?: string | undefined;
}

/** The undo of a record to which nothing is written. @param newId of the one that was created in its place, if so */
export const notWritten = ({ history, fields }: RecordToUndo, explanation: Explanation, newId?: string): RecordUndo =>
	({ history, fields, changes: [], ...explanation, newId });

/** An undo with further reasons, and the result of the last one. */
export const withExplanations = (undo: RecordUndo, ...explanations: Explanation[]): RecordUndo =>
	explanations.reduce((soFar, { result, reason }) => ({ ...soFar, result, reason: sentences(soFar.reason, reason) }), undo);

/** An undo that names the other records that undos have created in place of the same one. */
export function withCopies(undo: RecordUndo): RecordUndo {
	const copies = undo.history.recreations.filter(({ id, record }) => record && id !== undo.newId);
	return withExplanations(undo, ...copies.map(({ id }) => explain('createdTwice', id)));
}

export const allKept = (changes: FieldChange[]): FieldChange[] => changes.map((change) => ({ ...change, kept: true }));

/**
 * An undo without the values of some fields. A record is never left where the service would put it: without its stage, it
 * does not get its pipeline, either, and is not created. The undo has no action if nothing is left to write.
 */
export function withoutFields(undo: RecordUndo, omitted: ReadonlySet<string>): RecordUndo {
	const { fields } = undo;
	const isDisplaced = [...omitted].some((name) => fields.isPlace(name));
	const isOmitted = ({ field }: FieldChange) => omitted.has(nameInEvents(field));
	const tied = undo.changes.filter((change) => isDisplaced && !change.kept && !isOmitted(change) && fields.isPlace(change.field));
	const changes = undo.changes.map((change): FieldChange => (isOmitted(change) || tied.includes(change) ? { ...change, kept: true } : change));
	const needsOmitted = [...omitted].some((name) => fields.isRequired(name));
	if (undo.action === 'create' && (needsOmitted || isDisplaced)) {
		return withExplanations({ ...undo, action: undefined, changes: allKept(changes) }, explain(needsOmitted ? 'requiredLink' : 'displaced'));
	}
	const whyTied = explain('fieldsTied', tied.map(({ field }) => field).join(', ')).reason;
	const rest = { ...undo, changes, ...(tied.length > 0 && { reason: sentences(undo.reason, whyTied) }) };
	if (changes.some(({ kept }) => !kept)) return rest;
	return { ...rest, action: undefined, result: undo.result === 'conflict' ? 'conflict' : 'cannot_be_undone' };
}
