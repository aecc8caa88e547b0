import type { Resource } from '../model';
import { create } from '../operations/create';
import { deleteRecord } from '../operations/delete';
import { get } from '../operations/get';
import { getMany } from '../operations/getMany';
import { update } from '../operations/update';
import { upsert } from '../operations/upsert';

export const contact: Resource = {
	name: 'Contact',
	value: 'contact',
	path: '/contacts',
	operations: [
		create('Create a contact'),
		upsert('Create or update a contact'),
		deleteRecord('Delete a contact'),
		get('Get a contact'),
		getMany('Get many contacts'),
		update('Update a contact'),
	],
};
