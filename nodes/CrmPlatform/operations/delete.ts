import type { Operation } from '../model';
import { batchOptions } from './batchOptions';
import { offeredWrite } from './offered';
import { recordAt, recordProperty } from './record';
import { writing } from './write';

/** @param action what n8n's list of actions says, such as `Delete a contact` */
export function deleteRecord(action: string): Operation {
	return {
		option: { name: 'Delete', value: 'delete', action, description: 'Remove a record' },

		properties: (resource) => [recordProperty(resource)],
		options: batchOptions,
		output: { type: 'object', properties: { deleted: { type: 'boolean' } } },
		write: (description) => description.delete,

		async prepare(job) {
			const read = (item: number) => recordAt(job, item);
			return writing(job, await offeredWrite(job), read, () => ({ deleted: true }));
		},
	};
}
