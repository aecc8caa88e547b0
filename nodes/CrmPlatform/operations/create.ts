import { columnsOf } from '../mapping/columns';
import { collectionPath } from '../mapping/picked';
import type { Operation } from '../model';
import { fieldsProperties } from './fieldsProperty';
import { offeredWrite } from './offered';
import { batchOptions } from './batchOptions';
import { complete, narrowed, type Narrowing } from './narrowed';
import { writing } from './write';

/**
 * @param action what n8n's list of actions says, such as `Create a contact`
 * @param special a creation with a name and values of its own, such as sending a message
 */
export function create(
	action: string,
	special: Partial<Operation['option']> & Narrowing = {},
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
		write: ({ create }) => narrowed(create, { preset, only, without, required }),

		async prepare(job) {
			const description = await offeredWrite(job);
			const columns = await columnsOf(job, 'fields', description.fields, 'skip');
			return writing(job, description, (item) => {
				const path = collectionPath(job, item);
				const body = complete({ ...columns(item), ...preset }, description, required);
				return { collection: path, path, body };
			});
		},
	};
}
