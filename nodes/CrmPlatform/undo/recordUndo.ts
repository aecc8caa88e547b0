import type { IDataObject } from 'n8n-workflow';

import type { RecordHistory } from './history';

/** The undo of one field. */
export interface FieldUndo {
	/** The name that events use: `custom_fields.<key>` for a custom field. */
	field: string;
	/** The current value. */
	from: unknown;
	/** The previous value. */
	to: unknown;
	/** Whether the current value stays. */
	kept?: true;
}

export type UndoAction = 'update' | 'delete' | 'create';

/** The undo of one record: first the plan, then the outcome. */
export interface RecordUndo {
	history: RecordHistory;
	result: 'undone' | 'already_so' | 'conflict' | 'cannot_be_undone';
	changes: FieldUndo[];
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
	/** The next write of this record: it leaves out the values that the service refused, or repeats the write. */
	nextAttempt?: RecordUndo;
	/** The fields in which the service stored other values than those sent; this write repeats them. */
	storedOtherwise?: string[];
}

/** An undo of a record that writes nothing. */
export const withoutWrite = (history: RecordHistory, result: RecordUndo['result'], reason?: string): RecordUndo => ({
	history,
	result,
	changes: [],
	...(reason !== undefined && { reason }),
});

/** Marks all changes as kept, so that none of them is written. */
export const allKept = (changes: FieldUndo[]): FieldUndo[] => changes.map((change) => ({ ...change, kept: true }));

/** Whether previous values are to be written. */
export const restoresValues = ({ action }: RecordUndo): boolean => action === 'update' || action === 'create';
