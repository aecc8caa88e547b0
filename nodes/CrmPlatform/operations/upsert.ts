import { columnsOf, matchingColumn } from '../mapping/columns';
import type { Operation } from '../model';
import { blankNotice, fieldsProperty } from './fieldsProperty';
import { offered } from './offered';
import { write } from './write';

/** @param action what n8n's list of actions says, such as `Create or update a contact` */
export function upsert(action: string): Operation {
	return {
		option: {
			name: 'Create or Update',
			value: 'upsert',
			action,
			description: 'Create a new record, or update the current one if it already exists (upsert)',
		},

		properties: () => [
			fieldsProperty('upsert', 'getUpsertFields', {
				matchingFieldsLabels: {
					title: 'Field to Match On',
					description: 'The field that tells whether the record exists already',
					hint: 'A record with the same value is updated; without one, it is created',
				},
			}),
			blankNotice,
		],

		async prepare(job) {
			const description = await offered(job, 'upsert');
			const columns = await columnsOf(job, 'fields', description.fields, 'clear');
			const { match } = description;
			const matchOn = matchingColumn(job, 'fields') ?? match?.values[0];
			const path = `/v1${job.resource.path}`;
			return async (item) => {
				const body = columns(item);
				if (matchOn !== undefined && (body[matchOn] ?? null) === null) {
					throw new Error(
						`There is no value for ‘${matchOn}’, the field to match on. Fill it in, or match on another field.`,
					);
				}
				const query = match ? { [match.name]: matchOn } : {};
				return await write(job, { description, path, item, body, query });
			};
		},
	};
}
