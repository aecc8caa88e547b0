import type { INodeProperties } from 'n8n-workflow';

import { columnsOf } from '../mapping/columns';
import type { Operation, Resource } from '../model';
import { batchOptions } from './batchOptions';
import { blankNotice, fieldsProperties } from './fieldsProperty';
import { complete, narrowed, type Narrowing } from './narrowed';
import { offeredWrite } from './offered';
import { pickedProperty, pickedValues, type PickedField } from './pickedField';
import { recordAt, recordProperty } from './record';
import { writing } from './write';

/** @param action what n8n's list of actions says, such as `Update a contact` */
export function update(action: string): Operation {
	return change(action, {
		name: 'Update',
		value: 'update',
		description: 'Change some values of a record and leave the others',
	});
}

/**
 * A change of some values, under a name of its own.
 *
 * @param action what n8n's list of actions says, such as `Close a ticket`
 */
export function change(
	action: string,
	special: Pick<Operation['option'], 'name' | 'value'> &
		Partial<Operation['option']> &
		Narrowing & { picked?: PickedField[] },
): Operation {
	const { preset, only, without, required, picked = [], ...named } = special;
	const asks = only === undefined || only.length > 0;
	return {
		option: { ...named, action },

		properties: (resource) => [
			recordProperty(resource),
			...picked.map(pickedProperty),
			...(only === undefined ? ofAnyField(resource) : asks ? fieldsProperties('add') : []),
		],
		options: batchOptions,
		write: (description) => narrowed(description.update, { preset, only, without, required }),

		async prepare(job) {
			const description = await offeredWrite(job);
			const columns = asks
				? await columnsOf(job, 'fields', description.fields, 'clear')
				: () => ({});
			return writing(job, description, (item) => {
				const values = { ...columns(item), ...pickedValues(job, picked, item), ...preset };
				return { ...recordAt(job, item), body: complete(values, description, required) };
			});
		},
	};
}

/** A change of whatever the user wants to be changed. */
const ofAnyField = (resource: Resource): INodeProperties[] => [
	...fieldsProperties('add', resource, { addAllFields: false }),
	blankNotice,
];
