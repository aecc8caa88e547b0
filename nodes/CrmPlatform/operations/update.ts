import type { IDataObject, INodeProperties } from 'n8n-workflow';

import type { WriteDescription } from '../api/openapi/writing';
import { isObject } from '../api/http/json';
import { mergePatch } from '../api/record';
import { readFields } from '../mapping/readFields';
import type { Execution, Operation, Resource } from '../model';
import { batchOptions } from '../parameters/batch';
import { blankNotices, emptyCellsOption, fieldsProperties } from '../parameters/fields';
import { simplifyProperty } from '../parameters/output';
import { pickedProperty, pickedValues, type PickedField } from '../parameters/pickedField';
import { recordAt, recordProperty } from '../parameters/record';
import { simplifyWritten } from '../reading/simplify';
import { writeRecords } from '../writing/batches';
import { describedWrite } from '../writing/describedOperation';
import { writeOncePerOption } from '../writing/oncePer';
import type { Write } from '../writing/order';
import { applyPresets, requireAnyValue, requireValues, type Presets } from '../writing/presets';
import { writeOne } from '../writing/single';

/** @param action the entry in n8n's list of actions, such as `Update a contact` */
export function update(action: string): Operation {
	return change(action, {
		name: 'Update',
		value: 'update',
		description: 'Update some fields of a record and leave the others unchanged',
	});
}

/**
 * A change of some values, under a name of its own.
 *
 * @param action the entry in n8n's list of actions, such as `Close a ticket`
 */
export function change(
	action: string,
	special: Pick<Operation['option'], 'name' | 'value'> &
		Partial<Operation['option']> &
		Presets & { picked?: PickedField[] },
): Operation {
	const { preset, only, without, required, picked = [], ...named } = special;
	const asks = only === undefined || only.length > 0;
	return {
		option: { ...named, action },

		properties: (resource) => [
			recordProperty(resource),
			...picked.map(pickedProperty),
			...(only === undefined ? ofAnyField(resource) : asks ? fieldsProperties() : []),
			simplifyProperty,
		],
		options: [...batchOptions, ...(asks ? [emptyCellsOption] : []), writeOncePerOption],
		write: (description) => applyPresets(description.update, { preset, only, without, required }),

		async prepare(execution) {
			const description = await describedWrite(execution);
			const fieldsOf = asks
				? await readFields(execution, 'fields', description.fields, 'clear')
				: (): IDataObject => ({});
			const read = (item: number) => {
				// The picked record is the one to change; an item's own id names the record it came from.
				const { id: _id, ...fields } = fieldsOf(item);
				const values = { ...fields, ...pickedValues(execution, picked, item), ...preset };
				const body = requireValues(requireAnyValue(values), description, required);
				return { ...recordAt(execution, item), body };
			};
			const simplified = await simplifyWritten(execution);
			if (description.method !== 'PUT') return writeRecords(execution, description, read, simplified);
			const replace = await replaceRecords(execution, description, read);
			return async (item) => simplified(await replace(item), item);
		},
	};
}

/** A change of any values. */
const ofAnyField = (resource: Resource): INodeProperties[] => [
	...fieldsProperties(resource),
	...blankNotices,
];

/**
 * Changes records of a service that replaces them as a whole (PUT, RFC 9110, section 9.3.4): each is
 * read, changed, and written under the condition that it is still the version that was read.
 *
 * @throws Error from the returned function, in the user's words, where the service has no versions:
 * a concurrent change by someone else would be lost
 */
async function replaceRecords(
	execution: Execution,
	description: WriteDescription,
	read: (item: number) => Write & { body: IDataObject },
): Promise<(item: number) => Promise<IDataObject>> {
	// Those of the description itself: an operation with presets asks for some of them only.
	const all = (await execution.api.describe(execution.resource.path))?.update?.fields ?? [];
	const members = new Set(all.map(({ path: [member = ''] }) => member));
	return async (item) => {
		const { path, body: changes } = read(item);
		const { body: record, headers } = await execution.api.send({ method: 'GET', path });
		const { etag } = headers;
		const isConditional = etag !== undefined && !etag.startsWith('W/');
		if (!isObject(record) || (!isConditional && !members.has('version'))) {
			throw new Error(
				'The service replaces whole records and does not version them (ETag), so changes made by others at the same time would be lost. Nothing was written. To send the whole record, use the resource Other API Request.',
			);
		}
		const current = Object.fromEntries(Object.entries(record).filter(([name]) => members.has(name)));
		return await writeOne(
			execution,
			description,
			{
				path,
				body: mergePatch(current, changes),
				...(isConditional && { headers: { 'if-match': etag } }),
			},
			[item],
		);
	};
}
