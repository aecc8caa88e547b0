import type { Resource } from '../model';
import { recordAction } from '../operations/recordAction';
import { get } from '../operations/get';
import { getMany } from '../operations/getMany';

export const job: Resource = {
	name: 'Job',
	value: 'job',
	path: '/jobs',
	isUndoable: false,
	isPolled: false,
	operations: [
		recordAction('Cancel a job', 'cancel', {
			name: 'Cancel',
			value: 'cancel',
			description: 'Cancel a job that has not finished. Records already processed stay as they are.',
			leavesTheCrm: false,
		}),
		get('Get a job'),
		getMany('Get many jobs'),
	],
};
