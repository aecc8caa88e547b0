import { pickedId } from '../mapping/locator';
import type { Operation } from '../model';
import { path } from '../api/http/path';
import { describedWrite } from '../writing/describedOperation';
import { pickerProperty, recordAt, recordProperty } from '../parameters/recordParameters';
import { simplifyProperty } from '../parameters/outputParameters';
import { simplifyWritten } from '../reading/simplify';
import { writeRecords } from '../writing/batches';

/** @param action the entry in n8n's list of actions, such as `Add a tag to a contact` */
export function addTag(action: string): Operation {
	return tagging({
		name: 'Add Tag',
		value: 'addTag',
		description: 'Add a tag to a record',
		action,
	});
}

/** @param action the entry in n8n's list of actions, such as `Remove a tag from a contact` */
export function removeTag(action: string): Operation {
	return tagging({
		name: 'Remove Tag',
		value: 'removeTag',
		description: 'Remove a tag from a record',
		action,
	});
}

function tagging(option: Operation['option'] & { value: 'addTag' | 'removeTag' }): Operation {
	return {
		option,
		properties: (resource) => [
			recordProperty(resource),
			pickerProperty('Tag', 'tagId', 'searchTags'),
			simplifyProperty,
		],
		write: (description) => description[option.value],

		async prepare(execution) {
			const write = (item: number) => {
				const record = recordAt(execution, item);
				const tag = path`/tags/${pickedId(execution.n8n, 'tagId', item)}`;
				return { ...record, path: record.path + tag };
			};
			return writeRecords(execution, await describedWrite(execution), write, await simplifyWritten(execution));
		},
	};
}
