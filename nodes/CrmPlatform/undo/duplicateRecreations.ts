import type { IDataObject } from 'n8n-workflow';

import type { Copy, RecordHistory } from './recordHistory';
import { compareStates, recordStateOf } from './recordState';
import type { Undoing } from './recordUndo';

/** A created record that stays. */
export const asLinked = ({ history }: Undoing): Undoing => ({ history, result: 'conflict', changes: [], reason: history.copyOf ? copyStays(history.copyOf.id) : linkedSince });

/**
 * Of what several undos have created in place of one record, the first stays. The others are deleted, unless
 * somebody has changed them.
 *
 * @param isKept whether they stay whatever became of them
 */
export function copiesOf(history: RecordHistory, [first, ...others]: Copy[], isKept: boolean, recordOf: (copy: Copy) => IDataObject): Undoing[] {
	const { deletion, isCreated } = history;
	if (!first || !deletion || isCreated) return [];
	return others.filter(({ isOwn }) => !isOwn).map((copy): Undoing => {
		const record = recordOf(copy);
		const copyHistory = { ...history, id: copy.id, fields: new Map(), anew: [], copyOf: { id: first.id, copy } };
		const isChanged = copy.isTouched || compareStates(recordStateOf(record), copy.state) !== 'same';
		if (isKept || isChanged) return asLinked({ history: copyHistory, result: 'conflict', changes: [] });
		return { history: copyHistory, result: 'undone', changes: [], reason: createdTwice(first.id), action: 'delete', current: record };
	});
}

/** A copy that is found when no more records may change. */
export const keptCopy = ({ history, reason = '' }: Undoing): Undoing => ({ history, result: 'conflict', changes: [], reason: `${reason} It was not deleted, because Maximum Records allows no more. Run the undo again.` });

export const createdTwice = (id: string) => `Another undo created it too: ${id}.`;
const copyStays = (id: string) => `Two undos have created this record; the other is ${id}. It was not deleted: it has been changed or linked since, or that could not be checked. Merge the two by hand.`;
const linkedSince = 'The workflow created this record, and it is still linked from other records. It was not deleted.';
