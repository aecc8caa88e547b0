import type { Operation } from '../model';
import { addNamesOption, batchOptions } from '../parameters/outputParameters';
import { requireWrite } from '../writing/requireWrite';
import { ifEmptyOption, recordAt, recordProperty } from '../parameters/recordParameters';
import { writeRecords } from '../writing/batches';

/** @param action the entry in n8n's list of actions, such as `Delete contact` */
export function deleteRecord(action: string): Operation {
	return {
		option: { name: 'Delete', value: 'delete', action, description: 'Delete a record' },

		properties: (resource) => [recordProperty(resource)],
		options: [...batchOptions.filter((option) => option !== addNamesOption), ifEmptyOption],
		output: { type: 'object', properties: { deleted: { type: 'boolean' } } },
		write: (description) => description.delete,

		async prepare(execution) {
			const read = (item: number) => recordAt(execution, item);
			return writeRecords(execution, await requireWrite(execution), read, () => ({ deleted: true }));
		},
	};
}
