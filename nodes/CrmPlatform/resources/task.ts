import type { Resource } from '../model';
import { recordOperations, tagOperations } from '../operations/recordOperations';
import { sendAndWait } from '../operations/sendAndWait';
import { namedUpdate } from '../operations/update';

export const task: Resource = {
	name: 'Task',
	value: 'task',
	path: '/tasks',
	hasLinks: true,
	isUndoable: true,
	isPolled: true,
	operations: [
		...recordOperations('a task', 'tasks'),
		...tagOperations,
		namedUpdate('Complete a task', {
			name: 'Complete',
			value: 'complete',
			description: 'Mark a task as completed',
			leavesTheCrm: false,
			preset: { status: 'completed' },
			only: [],
		}),
		namedUpdate('Reopen a task', {
			name: 'Reopen',
			value: 'reopen',
			description: 'Reopen a closed deal or ticket, or a completed task',
			leavesTheCrm: false,
			preset: { status: 'not_started' },
			only: [],
		}),
		sendAndWait(),
	],
};
