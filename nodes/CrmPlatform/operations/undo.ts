import type { Operation, Resource } from '../model';
import { eachItem } from '../schedule';
import { undoChanges } from '../undo/undoChanges';
import { undoOptions, undoProperties } from '../undo/undoSettings';

const textNames = ['result', 'action', 'kind', 'id', 'name', 'new_id', 'restored', 'kept', 'reason'];
const texts = Object.fromEntries(textNames.map((name) => [name, { type: 'string' }]));

/** @param undoableTypes the record types whose changes can be undone */
export function undo(undoableTypes: Resource[]): Operation {
	return {
		option: {
			name: 'Undo',
			value: 'undo',
			action: 'Undo changes',
			description: 'Undo what an execution, a workflow or a user has written',
		},
		properties: () => undoProperties,
		options: undoOptions(undoableTypes),
		output: { type: 'object', properties: { ...texts, changes: { type: 'array' } } },
		isOnceForAll: true,

		prepare: (run) => eachItem(async (item) => await undoChanges(run, item, undoableTypes)),
	};
}
