import type { IDataObject } from 'n8n-workflow';

import { fieldNamed } from '../fields/field';
import type { Operation } from '../model';
import { path } from '../api/http/path';
import { requireWrite } from '../writing/requireWrite';
import { preparePickedIds, type PickedField } from '../mapping/pickedFields';
import { ifEmptyOption, recordAt, recordProperty, pickedProperty } from '../parameters/recordParameters';
import { writeOptions, simplifyProperty } from '../parameters/outputParameters';
import { simplifyWritten } from '../reading/simplify';
import { listIn } from '../values/blank';
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
				const id = String(tagOf(item).tag_ids);
				const sets = ({ tag_ids }: IDataObject): IDataObject => {
					const others = listIn(tag_ids).map(String).filter((other) => other !== id);
					return { tag_ids: option.value === 'addTag' ? [...others, id] : others };
				};
				return { ...record, path: record.path + path`/tags/${id}`, sets };
			};
			return writeRecords(execution, await requireWrite(execution), write, await simplifyWritten(execution));
		},
	};
}
