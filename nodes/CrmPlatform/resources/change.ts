import type { Resource } from '../model';
import { undo } from '../operations/undo';

/** @param undoable the resources whose changes can be undone */
export const changeResource = (undoable: Resource[]): Resource => ({
	name: 'Change',
	value: 'change',
	path: '/events',
	isUndoable: false,
	isPolled: false,
	operations: [undo(undoable)],
});
