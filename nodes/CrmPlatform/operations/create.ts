import { collectionPath } from '../mapping/locator';
import { readFields } from '../mapping/readFields';
import type { Operation } from '../model';
import { batchOptions } from '../parameters/batch';
import { emptyCellsOption, fieldsProperties } from '../parameters/fields';
import { writeRecords } from '../writing/batches';
import { describedWrite } from '../writing/describedOperation';
import { writeOncePerOption } from '../writing/oncePer';
import { applyPresets, requireAnyValue, requireValues, type Presets } from '../writing/presets';

/**
 * @param action the entry in n8n's list of actions, such as `Create a contact`
 * @param special a creation with a name and values of its own, such as sending a message
 */
export function create(
	action: string,
	special: Partial<Operation['option']> & Presets = {},
): Operation {
	const { preset, only, without, required, ...named } = special;
	return {
		option: {
			name: 'Create',
			value: 'create',
			description: 'Create a new record',
			...named,
			action,
		},

		properties: (resource) => fieldsProperties('add', resource),
		options: [...batchOptions, emptyCellsOption, writeOncePerOption],
		write: ({ create }) => applyPresets(create, { preset, only, without, required }),

		async prepare(job) {
			const description = await describedWrite(job);
			const fieldsOf = await readFields(job, 'fields', description.fields, 'skip');
			return writeRecords(job, description, (item) => {
				const path = collectionPath(job, item);
				const values = requireAnyValue(fieldsOf(item));
				const body = requireValues({ ...values, ...preset }, description, required);
				return { collection: path, path, body };
			});
		},
	};
}
