import { everydayType } from '../operations/recordOperations';
import { sendAndWait } from '../operations/sendAndWait';
import { namedUpdate } from '../operations/writeRecord';

export const task = everydayType({ name: 'Task', value: 'task', path: '/tasks' }, [
	namedUpdate('Complete task', {
		name: 'Complete',
		value: 'complete',
		description: 'Mark a task as completed',
		leavesTheCrm: false,
		preset: { status: 'completed' },
		only: [],
	}),
	namedUpdate('Reopen task', {
		name: 'Reopen',
		value: 'reopen',
		description: 'Reopen a closed deal or ticket, or a completed task',
		leavesTheCrm: false,
		preset: { status: 'not_started' },
		only: [],
	}),
	sendAndWait(),
]);
