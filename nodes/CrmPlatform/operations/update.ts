import type { INodeProperties } from 'n8n-workflow';

import { readFields } from '../mapping/readFields';
import type { Operation, Resource } from '../model';
import { batchOptions } from '../parameters/batch';
import { blankNotice, fieldsProperties } from '../parameters/fields';
import { requireValues, applyPresets, type Presets } from '../writing/presets';
import { describedWrite } from '../writing/describedOperation';
import { pickedProperty, pickedValues, type PickedField } from '../parameters/pickedField';
import { recordAt, recordProperty } from '../parameters/record';
import { writeRecords } from '../writing/batches';

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
		Presets & { picked?: PickedField[] },
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
		write: (description) => applyPresets(description.update, { preset, only, without, required }),

		async prepare(job) {
			const description = await describedWrite(job);
			const columns = asks
				? await readFields(job, 'fields', description.fields, 'clear')
				: () => ({});
			return writeRecords(job, description, (item) => {
				const values = { ...columns(item), ...pickedValues(job, picked, item), ...preset };
				return { ...recordAt(job, item), body: requireValues(values, description, required) };
			});
		},
	};
}

/** A change of whatever the user wants to be changed. */
const ofAnyField = (resource: Resource): INodeProperties[] => [
	...fieldsProperties('add', resource, { addAllFields: false }),
	blankNotice,
];
