import { fieldNamed } from '../fields/field';
import type { Operation } from '../model';
import { path } from '../api/http/path';
import { requireWrite } from '../writing/requireWrite';
import { preparePickedIds, type PickedField } from '../mapping/pickedFields';
import { ifEmptyOption, recordAt, recordProperty, pickedProperty } from '../parameters/recordParameters';
import { writeOptions, simplifyProperty } from '../parameters/outputParameters';
import { simplifyWritten } from '../reading/simplify';
import { writeRecords } from '../writing/batches';

const pickedTag: PickedField = { field: 'tag_ids', name: 'tagId', displayName: 'Tag', method: 'searchTags' };
const tagField = fieldNamed('tag_ids', { label: 'Tag', collection: 'tags' });

export function tagOperation(option: Operation['option'] & { value: 'addTag' | 'removeTag' }): Operation {
	return {
		option,
		properties: (resource) => [recordProperty(resource), pickedProperty(pickedTag), simplifyProperty],
		options: [...writeOptions, ifEmptyOption],
		write: (writes) => writes[option.value],

		async prepare(execution) {
			const tagOf = await preparePickedIds(execution, [pickedTag], [tagField]);
			const write = (item: number) => {
				const record = recordAt(execution, item);
				return { ...record, path: record.path + path`/tags/${String(tagOf(item).tag_ids)}` };
			};
			return writeRecords(execution, await requireWrite(execution), write, await simplifyWritten(execution));
		},
	};
}
