import type { IDataObject } from 'n8n-workflow';

import type { Recreation, RecordHistory } from './recordHistory';
import { compareStates, recordStateOf } from './recordState';
import { withoutWrite, type RecordUndo } from './recordUndo';

/** Keeps a created record that other records link to. */
export const keptAsLinked = ({ history }: RecordUndo): RecordUndo =>
	withoutWrite(history, 'conflict', history.duplicateOf ? duplicateKept(history.duplicateOf.id) : linkedSince);

/**
 * If several undos have created the same record again, the first one stays. The others are deleted, unless
 * somebody has changed them.
 *
 * @param areKept whether the others stay even if nobody has changed them
 */
export function duplicateUndos(
	history: RecordHistory,
	[first, ...others]: Recreation[],
	areKept: boolean,
	currentRecord: (recreation: Recreation) => IDataObject,
): RecordUndo[] {
	const { deletion, isCreated } = history;
	if (!first || !deletion || isCreated) return [];
	return others.filter(({ isToBeUndone }) => !isToBeUndone).map((recreation): RecordUndo => {
		const record = currentRecord(recreation);
		const duplicate = { ...history, id: recreation.id, fields: new Map(), recreations: [], duplicateOf: { id: first.id, recreation } };
		const isChanged = recreation.isChanged || compareStates(recordStateOf(record), recreation.state) !== 'same';
		if (areKept || isChanged) return withoutWrite(duplicate, 'conflict', duplicateKept(first.id));
		return { ...withoutWrite(duplicate, 'undone', createdTwice(first.id)), action: 'delete', current: record };
	});
}

/** Keeps a duplicate that was found after the maximum number of records was reached. */
export const keptBeyondMaximum = ({ history, reason = '' }: RecordUndo): RecordUndo =>
	withoutWrite(history, 'conflict', `${reason} It was not deleted, because Maximum Records allows no more. Run the undo again.`);

export const createdTwice = (id: string) => `Another undo created it too: ${id}.`;
const duplicateKept = (id: string) =>
	`Two undos have created this record; the other is ${id}. It was not deleted: it has been changed or linked since, or that could not be checked. Merge the two by hand.`;
const linkedSince = 'The workflow created this record, and it is still linked from other records. It was not deleted.';
