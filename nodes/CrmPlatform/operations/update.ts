import { columnsOf } from '../mapping/columns';
import type { Operation } from '../model';
import { blankNotice, fieldsProperty } from './fieldsProperty';
import { offered } from './offered';
import { recordPath, recordProperty } from './record';
import { write } from './write';

/** @param action what n8n's list of actions says, such as `Update a contact` */
export function update(action: string): Operation {
	return {
		option: {
			name: 'Update',
			value: 'update',
			action,
			description: 'Change some values of a record and leave the others',
		},

		properties: (resource) => [
			recordProperty(resource),
			fieldsProperty('add', 'getUpdateFields', { addAllFields: false }),
			blankNotice,
		],

		async prepare(job) {
			const description = await offered(job, 'update');
			const columns = await columnsOf(job, 'fields', description.fields, 'clear');
			return async (item) =>
				await write(job, {
					description,
					path: recordPath(job, item),
					item,
					body: columns(item),
				});
		},
	};
}
