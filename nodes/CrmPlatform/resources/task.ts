import type { Resource } from '../model';
import { fileOperations, recordOperations, tagOperations } from '../operations/recordOperations';
import { change } from '../operations/update';

export const task: Resource = {
	name: 'Task',
	value: 'task',
	path: '/tasks',
	isLinked: true,
	ownName: 'Task Status',
	operations: [
		...recordOperations,
		...fileOperations,
		...tagOperations,
		change('Complete a task', {
			name: 'Complete',
			value: 'complete',
			description: 'Mark a task as completed',
			preset: { status: 'completed' },
			only: [],
		}),
		change('Reopen a task', {
			name: 'Reopen',
			value: 'reopen',
			description: 'Reopen a completed task',
			preset: { status: 'not_started' },
			only: [],
		}),
	],
};
