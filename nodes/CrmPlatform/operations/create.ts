import { readFields } from '../mapping/readFields';
import { collectionPath } from '../mapping/picked';
import type { Operation } from '../model';
import { fieldsProperties } from '../parameters/fields';
import { describedWrite } from '../writing/describedOperation';
import { batchOptions } from '../parameters/batch';
import { requireValues, applyPresets, type Presets } from '../writing/presets';
import { writeRecords } from '../writing/batches';

/**
 * @param action what n8n's list of actions says, such as `Create a contact`
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
			description: 'Add a new record',
			...named,
			action,
		},

		properties: (resource) => fieldsProperties('add', resource),
		options: batchOptions,
		write: ({ create }) => applyPresets(create, { preset, only, without, required }),

		async prepare(job) {
			const description = await describedWrite(job);
			const columns = await readFields(job, 'fields', description.fields, 'skip');
			return writeRecords(job, description, (item) => {
				const path = collectionPath(job, item);
				const body = requireValues({ ...columns(item), ...preset }, description, required);
				return { collection: path, path, body };
			});
		},
	};
}
