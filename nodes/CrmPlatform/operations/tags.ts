import { pickedId } from '../mapping/locator';
import type { Operation } from '../model';
import { path } from '../api/http/path';
import { describedWrite } from '../writing/describedOperation';
import { pickerProperty, recordAt, recordProperty } from '../parameters/recordParameters';
import { simplifyProperty } from '../parameters/outputParameters';
import { simplifyWritten } from '../reading/simplify';
import { writeRecords } from '../writing/batches';

export function addTag(): Operation {
	return tagging({
		name: 'Add Tag',
		value: 'addTag',
		action: 'Add a tag to a record',
		description: 'Add a tag to a record',
	});
}

export function removeTag(): Operation {
	return tagging({
		name: 'Remove Tag',
		value: 'removeTag',
		action: 'Remove a tag from a record',
		description: 'Remove a tag from a record',
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
