import { columnsOf } from '../mapping/columns';
import type { Operation } from '../model';
import { fieldsProperty } from './fieldsProperty';
import { offered } from './offered';
import { write } from './write';

/** @param action what n8n's list of actions says, such as `Create a contact` */
export function create(action: string): Operation {
	return {
		option: { name: 'Create', value: 'create', action, description: 'Add a new record' },

		properties: () => [fieldsProperty('add', 'getCreateFields')],

		async prepare(job) {
			const description = await offered(job, 'create');
			const columns = await columnsOf(job, 'fields', description.fields, 'skip');
			const path = `/v1${job.resource.path}`;
			return async (item) => await write(job, { description, path, item, body: columns(item) });
		},
	};
}
