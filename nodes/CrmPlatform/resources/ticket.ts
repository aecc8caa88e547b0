import type { PickedField } from '../mapping/pickedFields';
import { everydayType } from '../operations/recordOperations';
import { namedUpdate } from '../operations/writeRecord';

const assignee: PickedField = {
	field: 'assignee_id',
	name: 'assigneeId',
	displayName: 'Assignee',
	method: 'searchUsers',
};

export const ticket = everydayType({ name: 'Ticket', value: 'ticket', path: '/tickets' }, [
	namedUpdate('Assign ticket', {
		name: 'Assign',
		value: 'assign',
		description: 'Assign a ticket to a user',
		leavesTheCrm: false,
		only: [],
		picked: [assignee],
	}),
	namedUpdate('Change ticket status', {
		name: 'Change Status',
		value: 'changeStatus',
		description: 'Move a ticket to another status',
		leavesTheCrm: false,
		only: ['status'],
		required: ['status'],
	}),
	namedUpdate('Close ticket', {
		name: 'Close',
		value: 'close',
		description: 'Close a ticket permanently',
		leavesTheCrm: false,
		preset: { status: 'closed' },
		only: [],
	}),
	namedUpdate('Reopen ticket', {
		name: 'Reopen',
		value: 'reopen',
		description: 'Reopen a closed deal or ticket, or a completed task',
		leavesTheCrm: false,
		preset: { status: 'open' },
		only: [],
	}),
	namedUpdate('Solve ticket', {
		name: 'Solve',
		value: 'solve',
		description: 'Mark a ticket as solved. The ticket must have an assignee.',
		leavesTheCrm: false,
		preset: { status: 'solved' },
		only: [],
		picked: [{ ...assignee, isOptional: true }],
	}),
]);
