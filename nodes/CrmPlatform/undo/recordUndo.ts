import type { IDataObject } from 'n8n-workflow';

import type { Change } from '../changes/merge';
import type { RecordHistory } from './history';

type UndoAction = 'update' | 'delete' | 'create';

/** The undo of one record: first the plan, then the outcome. */
export interface RecordUndo {
	history: RecordHistory;
	result: 'undone' | 'already_so' | 'conflict' | 'cannot_be_undone';
	/** The restored values. Fields are named as in events, and members of an object by themselves: `address.city`. */
	changes: Change[];
	reason?: string;
	/** Absent if nothing is written. */
	action?: UndoAction;
	current?: IDataObject;
	/** Id of the record that was created in place of a deleted one. */
	newId?: string;
	/** Whether the service refused the write because another record has a value that must be unique. */
	isDuplicate?: true;
	/** Id of the record that has the value, if the service reports it. */
	holder?: string;
	/** The next write of this record, without the values that the service refused. */
	nextAttempt?: RecordUndo;
}

/** An undo of a record that writes nothing. */
export const withoutWrite = (history: RecordHistory, result: RecordUndo['result'], reason?: string): RecordUndo => ({
	history,
	result,
	changes: [],
	...(reason !== undefined && { reason }),
});

/** Marks all changes as kept, so that none of them is written. */
export const allKept = (changes: Change[]): Change[] => changes.map((change) => ({ ...change, kept: true }));
