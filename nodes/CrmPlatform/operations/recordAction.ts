import { readFields } from '../mapping/readFields';
import type { Operation } from '../model';
import { fieldsProperties } from '../parameters/fields';
import { describedWrite } from '../writing/describedOperation';
import { recordAt, recordProperty } from '../parameters/record';
import { writeRecords } from '../writing/batches';
import { writeOncePerOption } from '../writing/oncePer';

/**
 * An action on one record other than changing its values, such as winning a deal.
 *
 * @param action the entry in n8n's list of actions, such as `Win a deal`
 * @param step the last step of its path: `win` of `POST /deals/{id}/win`
 * @param asks whether it takes values
 */
export function recordAction(
	action: string,
	step: string,
	option: Pick<Operation['option'], 'name' | 'value' | 'description'>,
	asks = false,
): Operation {
	return {
		option: { ...option, action },

		properties: (resource) => [
			recordProperty(resource),
			...(asks ? fieldsProperties('add') : []),
		],
		options: [writeOncePerOption],
		write: ({ actions }) => actions[step],

		async prepare(job) {
			const description = await describedWrite(job);
			const fieldsOf = asks ? await readFields(job, 'fields', description.fields, 'skip') : undefined;
			return writeRecords(job, description, (item) => {
				const record = recordAt(job, item);
				const path = `${record.path}/${step}`;
				return { ...record, path, ...(fieldsOf && { body: fieldsOf(item) }) };
			});
		},
	};
}
