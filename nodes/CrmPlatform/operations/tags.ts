import type { Field } from '../api/openapi/schemaFields';
import type { Operation } from '../model';
import { path } from '../api/http/path';
import { describedWrite } from '../writing/describedOperation';
import { pickedProperty, pickedValues, type PickedField } from '../parameters/pickedField';
import { recordAt, recordProperty } from '../parameters/recordParameters';
import { simplifyProperty } from '../parameters/outputParameters';
import { simplifyWritten } from '../reading/simplify';
import { writeRecords } from '../writing/batches';

const tag: PickedField = { field: 'tag_ids', name: 'tagId', displayName: 'Tag', method: 'searchTags' };
const tagField: Field = { name: 'tag_ids', path: [], label: 'Tag', description: '', kind: 'text', required: true, reference: 'tags' };

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
			pickedProperty(tag),
			simplifyProperty,
		],
		write: (description) => description[option.value],

		async prepare(execution) {
			const tagOf = await pickedValues(execution, [tag], [tagField]);
			const write = (item: number) => {
				const record = recordAt(execution, item);
				return { ...record, path: record.path + path`/tags/${String(tagOf(item).tag_ids)}` };
			};
			return writeRecords(execution, await describedWrite(execution), write, await simplifyWritten(execution));
		},
	};
}
