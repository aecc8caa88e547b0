import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { path } from '../api/http/path';
import type { WriteDescription } from '../api/openapi/writing';
import { withoutMembers } from '../base/ownMembers';
import type { WhenCleared } from '../fields/decideValue';
import { isRequiredInForm } from '../fields/field';
import { collectionPath } from '../mapping/locator';
import { preparePickedIds, type PickedField } from '../mapping/pickedFields';
import { prepareValues } from '../mapping/prepareValues';
import { storedFields } from '../mapping/storedFields';
import type { Operation, Resource, ResultFrom, Write } from '../model';
import { blankNotices, emptyCellsOption, fieldsProperties, valuesInOption } from '../parameters/fieldParameters';
import { addNamesOption, batchOptions, simplifyProperty, writeOptions } from '../parameters/outputParameters';
import { ifEmptyOption, pickedProperty, recordAt, recordProperty } from '../parameters/recordParameters';
import { simplifyWritten } from '../reading/simplify';
import { listIn } from '../values/blank';
import { applyPresets, requireAnyValue, requireValues, requireWrite, type Presets } from '../writing/requireWrite';
import { writeOncePerOption } from '../writing/writeOne';

/** An entry of the menu. */
type Option = Operation['option'];

/** An operation that writes one record for each item. */
interface RecordWrite extends Presets, Pick<Operation, 'option' | 'output'> {
	leavesTheCrm?: boolean | undefined;
	/** Finds the description of the write, before the presets. */
	write: NonNullable<Operation['write']>;
	options: INodeProperties[];
	/** Whether it creates a record. Otherwise, the user picks the one to change. */
	isNew?: true;
	/** The parameters for values, and what clearing one of them does; absent if it takes none. */
	values?: { properties: (resource: Resource) => INodeProperties[]; whenCleared: WhenCleared } | false | undefined;
	/** Records that the user picks, whose ids it writes. */
	picked?: PickedField[] | undefined;
	/** For a request other than the record's own: its path below that of the record, and the values that the record has afterwards. */
	requestFor?: (pickedIds: IDataObject) => { below: string } & Pick<Write, 'sets'>;
	/** By default, the record that the service returns. */
	resultFrom?: ResultFrom;
}

function writeRecord({ option, leavesTheCrm, output, write, options, isNew, values, picked = [], requestFor, resultFrom, ...presets }: RecordWrite): Operation {
	const { preset, required = [] } = presets;
	return {
		option,
		...(leavesTheCrm !== undefined && { action: { leavesTheCrm } }),
		...(output !== undefined && { output }),

		properties: (resource) => [
			...(isNew ? [] : [recordProperty(resource)]),
			...picked.map(pickedProperty),
			...(values ? values.properties(resource) : []),
			...(output === undefined ? [simplifyProperty] : []),
		],
		options,
		write: (description) => applyPresets(write(description), presets),

		async prepare(execution) {
			const description = await requireWrite(execution);
			const stored = storedFields(execution.n8n, 'fields');
			const valuesOf = values ? await prepareValues(execution, stored, description.fields, values.whenCleared) : undefined;
			const idsOf = await preparePickedIds(execution, picked);
			// n8n does not check required fields here, because the mapper shows no errors (parameters/fieldParameters).
			const requiredNames = [...(isNew && stored.mode === 'each' ? requiredByForm(description) : []), ...required];

			const of = (item: number): Write => {
				const path = collectionPath(execution, item);
				const target = isNew ? { collection: path, path } : recordAt(execution, item);
				const entered = valuesOf?.(item) ?? {};
				const ids = idsOf(item);
				if (requestFor) {
					const { below, sets } = requestFor(ids);
					return { ...target, path: target.path + below, ...(sets && { sets }), ...(valuesOf && { body: entered }) };
				}
				// The picked record is the one to change; an item's own id names the record it came from.
				const chosen = isNew ? entered : { ...withoutMembers(entered, 'id'), ...ids };
				const body = { ...chosen, ...preset };
				// The preset alone is a change, such as the state of a ticket, but not a record.
				requireAnyValue(isNew ? chosen : body, isNew ? description.fields : []);
				return { ...target, body: requireValues(body, description, requiredNames) };
			};
			return { description, of, resultFrom: resultFrom ?? (await simplifyWritten(execution)) };
		},
	};
}

const requiredByForm = ({ fields }: WriteDescription): string[] =>
	fields.filter((field) => isRequiredInForm(field) && field.path.length === 1).map(({ name }) => name);

/**
 * @param action the entry in n8n's list of actions, such as `Create contact`
 * @param offer a creation with a name and values of its own, such as sending a message
 */
export function create(action: string, offer?: Partial<Option> & Presets & { leavesTheCrm: boolean }): Operation {
	const { leavesTheCrm, preset, only, without, required, ...named }: Partial<NonNullable<typeof offer>> = offer ?? {};
	return writeRecord({
		option: { name: 'Create', value: 'create', description: 'Create a new record', ...named, action },
		leavesTheCrm,
		...{ preset, only, without, required },
		write: (description) => description.create,
		options: [...batchOptions, ...(offer ? [] : [valuesInOption]), writeOncePerOption],
		isNew: true,
		values: { properties: fieldsProperties, whenCleared: 'skip' },
	});
}

/** @param action the entry in n8n's list of actions, such as `Update contact` */
export const update = (action: string): Operation => writeRecord({
	option: { name: 'Update', value: 'update', description: 'Update some fields of a record and leave the others unchanged', action },
	write: (description) => description.update,
	options: [...batchOptions, ifEmptyOption, emptyCellsOption, valuesInOption],
	values: { properties: (resource) => [...fieldsProperties(resource), ...blankNotices], whenCleared: 'clear' },
});

/**
 * An update under a name of its own, of some fields, such as closing a ticket.
 *
 * @param action the entry in n8n's list of actions, such as `Close ticket`
 */
export function namedUpdate(
	action: string,
	{ leavesTheCrm, preset, only, required, picked, ...named }: Option & Presets & { only: string[]; picked?: PickedField[]; leavesTheCrm: boolean },
): Operation {
	return writeRecord({
		option: { ...named, action },
		...{ leavesTheCrm, preset, only, required, picked },
		write: (description) => description.update,
		options: [...writeOptions, ifEmptyOption],
		values: only.length > 0 && { properties: () => fieldsProperties(), whenCleared: 'clear' },
	});
}

/** @param action the entry in n8n's list of actions, such as `Delete contact` */
export const deleteRecord = (action: string): Operation => writeRecord({
	option: { name: 'Delete', value: 'delete', action, description: 'Delete a record' },
	output: { type: 'object', properties: { deleted: { type: 'boolean' } } },
	write: (description) => description.delete,
	options: [...batchOptions.filter((option) => option !== addNamesOption), ifEmptyOption],
	requestFor: () => ({ below: '' }),
	resultFrom: () => ({ deleted: true }),
});

/**
 * An action on one record other than changing its values, such as winning a deal.
 *
 * @param action the entry in n8n's list of actions, such as `Win deal`
 * @param segment the last segment of its path: `win` of `POST /deals/{id}/win`
 * @param offer its entry in the menu, whether it leaves the CRM, its output unless that is the record, whether it takes values,
 * and the values that it sets
 */
export function recordAction(
	action: string,
	segment: string,
	offer: Option & Pick<Operation, 'output'> & { leavesTheCrm: boolean; takesValues?: true; sets?: IDataObject },
): Operation {
	const { leavesTheCrm, output, takesValues, sets, ...named } = offer;
	return writeRecord({
		option: { ...named, action },
		leavesTheCrm,
		...(output !== undefined && { output, resultFrom: (answer: IDataObject) => answer }),
		write: ({ actions }) => actions[segment],
		options: [...writeOptions, ifEmptyOption],
		values: takesValues && { properties: () => fieldsProperties(), whenCleared: 'skip' },
		requestFor: () => ({ below: `/${segment}`, ...(sets && { sets: () => sets }) }),
	});
}

const pickedTag: PickedField = { field: 'tag_ids', name: 'tagId', displayName: 'Tag', method: 'searchTags', collection: 'tags' };

export const tagOperation = (option: Option & { value: 'addTag' | 'removeTag' }): Operation => writeRecord({
	option,
	write: (writes) => writes[option.value],
	options: [...writeOptions, ifEmptyOption],
	picked: [pickedTag],
	requestFor({ tag_ids: tagId }) {
		const id = String(tagId);
		const sets = ({ tag_ids }: IDataObject): IDataObject => {
			const others = listIn(tag_ids).map(String).filter((other) => other !== id);
			return { tag_ids: option.value === 'addTag' ? [...others, id] : others };
		};
		return { below: path`/tags/${id}`, sets };
	},
});
