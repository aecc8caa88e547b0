import type { Resource } from '../model';
import { create } from '../operations/create';
import { deleteRecord } from '../operations/delete';
import { get } from '../operations/get';
import { getMany } from '../operations/getMany';
import { update } from '../operations/update';
import { upsert } from '../operations/upsert';

export const company: Resource = {
	name: 'Company',
	value: 'company',
	path: '/companies',
	operations: [
		create('Create a company'),
		upsert('Create or update a company'),
		deleteRecord('Delete a company'),
		get('Get a company'),
		getMany('Get many companies'),
		update('Update a company'),
	],
};
