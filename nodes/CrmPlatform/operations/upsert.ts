import { readFields } from '../mapping/readFields';
import { upsertMatch } from '../mapping/match';
import { collectionPath } from '../mapping/picked';
import type { Operation } from '../model';
import { blankNotice, fieldsProperties } from '../parameters/fields';
import { batchOptions } from '../parameters/batch';
import { describedWrite } from '../writing/describedOperation';
import { writeRecords } from '../writing/batches';

/** @param action what n8n's list of actions says, such as `Create or update a contact` */
export function upsert(action: string): Operation {
	return {
		option: {
			name: 'Create or Update',
			value: 'upsert',
			action,
			description: 'Create a new record, or update the current one if it already exists (upsert)',
		},

		properties: (resource) => [
			...fieldsProperties('upsert', resource, {
				matchingFieldsLabels: {
					title: 'Field to Match On',
					description: 'The field that tells whether the record exists already',
					hint: 'A record with the same value is updated; without one, it is created',
				},
			}),
			blankNotice,
		],
		options: batchOptions,
		write: (description) => description.upsert,

		async prepare(job) {
			const description = await describedWrite(job);
			const columns = await readFields(job, 'fields', description.fields, 'clear');
			const matchFor = upsertMatch(job, 'fields', description);
			const { name } = description.match ?? {};
			return writeRecords(job, description, (item) => {
				const path = collectionPath(job, item);
				const body = columns(item);
				const match = matchFor(item);
				if (!match || name === undefined) return { collection: path, path, body };
				const query = { [name]: match.field };
				// Services see one address in ‘Ada@…’ and ‘ada@…’. This only orders: more alike does no harm.
				const value = match.valueIn(body).trim().toLowerCase();
				return {
					collection: path,
					path,
					body,
					query,
					match: `${match.field}=${value}`,
					hasOtherNames: match.mayDiffer,
				};
			});
		},
	};
}
