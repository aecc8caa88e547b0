import type { Operation } from '../model';
import { offered } from './offered';
import { recordPath, recordProperty } from './record';
import { write } from './write';

/** @param action what n8n's list of actions says, such as `Delete a contact` */
export function deleteRecord(action: string): Operation {
	return {
		option: { name: 'Delete', value: 'delete', action, description: 'Remove a record' },

		properties: (resource) => [recordProperty(resource)],

		async prepare(job) {
			const description = await offered(job, 'delete');
			return async (item) => {
				await write(job, { description, path: recordPath(job, item), item });
				return { deleted: true };
			};
		},
	};
}
