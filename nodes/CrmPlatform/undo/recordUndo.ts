import type { IDataObject } from 'n8n-workflow';

import type { Change } from '../changes/merge';
import type { RecordHistory } from './history';
import { explain, type Explanation, sentences, type UndoResult } from './reasons';

/** The undo of one record: first the plan, then the outcome. */
export interface RecordUndo {
	history: RecordHistory;
	result: UndoResult;
	/** The restored values. Fields are named as in events, and members of an object by themselves: `address.city`. */
	changes: Change[];
	reason?: string;
	/** Absent if nothing is written. */
	action?: 'update' | 'delete' | 'create';
	/** The record to change or delete. */
	record?: IDataObject;
	/** Id of the record that was created in place of a deleted one. */
	newId?: string;
}

/** The undo of a record that is left as it is. */
export const leftAsItIs = (history: RecordHistory, why: Explanation): RecordUndo => ({ history, changes: [], ...why });

/** An undo with another result, and a further reason. */
export const withReason = (undo: RecordUndo, { result, reason }: Explanation, ...details: string[]): RecordUndo =>
	({ ...undo, result, reason: sentences(undo.reason, reason, ...details) });

/** An undo that names the other records that undos have created in place of the same one. */
export const withCopies = (undo: RecordUndo): RecordUndo =>
	undo.history.recreations.filter(({ id, record }) => record && id !== undo.newId)
		.reduce((reported, { id }) => withReason(reported, explain('createdTwice', id)), undo);

/** Marks all changes as kept, so that none of them is written. */
export const allKept = (changes: Change[]): Change[] => changes.map((change) => ({ ...change, kept: true }));
