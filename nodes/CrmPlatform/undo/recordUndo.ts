import type { IDataObject } from 'n8n-workflow';

import type { RecordHistory } from './recordHistory';

/** What becomes of a value. */
export interface UndoneChange {
	/** As events name it: `custom_fields.<key>` for a custom field. */
	field: string;
	/** The value now. */
	from: unknown;
	/** The value before. */
	to: unknown;
	/** Whether the value of now stays. */
	kept?: true;
}

export type UndoAction = 'update' | 'delete' | 'create';

/** What becomes of a record. */
export interface Undoing {
	history: RecordHistory;
	result: 'undone' | 'already_so' | 'conflict' | 'cannot_be_undone';
	changes: UndoneChange[];
	reason?: string;
	/** What is to be written, if anything. */
	action?: UndoAction;
	/** The current record. */
	current?: IDataObject;
	/** Id of the record that was created in its place. */
	newId?: string;
	/** Whether the service refused it because another record has a value that must be unique. */
	isDuplicate?: true;
	/** That other record, where the service tells. */
	holder?: string;
	/** What is to be written next: without the values that the service has refused, or once more. */
	part?: Undoing;
	/** The fields in which the service has stored other values than those sent; they are being written once more. */
	storedOtherwise?: string[];
}
