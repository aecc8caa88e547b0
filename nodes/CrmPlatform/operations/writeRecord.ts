import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { path } from '../api/http/path';
import type { WriteDescription } from '../api/openapi/writing';
import { ownMember, withoutMembers } from '../base/ownMembers';
import type { WhenCleared } from '../fields/decideValue';
import { isRequiredInForm, labelFor } from '../fields/field';
import { collectionPath } from '../mapping/locator';
import { preparePickedIds, type PickedField } from '../mapping/pickedFields';
import { prepareValues } from '../mapping/prepareValues';
import { storedFields } from '../mapping/storedFields';
import type { Operation, ResultFrom, Write } from '../model';
import { blankNotices, emptyCellsOption, fieldsProperties, valuesInOption } from '../parameters/fieldParameters';
import { addNamesOption, batchOptions, simplifyProperty, writeOptions } from '../parameters/outputParameters';
import { ifEmptyOption, pickedProperty, recordAt, recordProperty } from '../parameters/recordParameters';
import { simplifyWritten } from '../reading/simplify';
import { isBlank, listIn } from '../values/blank';
import { requireAnyValue, requireWrite } from '../writing/requireWrite';
import { writeOncePerOption } from '../writing/writeOne';

/** An entry of the menu: its `value` is the name as an identifier, and its `action` the name and `%`, unless it says otherwise. */
interface Entry {
	name: string;
	value?: string;
	action?: string;
	description: string;
}

/** How a special operation changes the fields of a write. */
interface Presets {
	/** Always written, and not shown in the form. */
	preset?: IDataObject;
	/** The only fields shown in the form. */
	only?: string[];
	/** Fields not shown in the form. */
	without?: string[];
	/** Fields that this operation requires. */
	required?: string[];
}

/** An operation that writes one record for each item. */
interface RecordWrite extends Entry, Presets, Pick<Operation, 'output'> {
	/** For an action that a toolkit offers (`Operation.toolAction`). */
	leavesTheCrm?: boolean;
	/** Finds the description of the write, before the presets. */
	write: NonNullable<Operation['write']>;
	options: INodeProperties[];
	/** Whether it creates a record. Otherwise, the user picks the one to change. */
	isNew?: true;
	/** The parameters for values, and what clearing one of them does; absent if it takes none. */
	values?: { properties: Operation['properties']; whenCleared: WhenCleared } | false | undefined;
	/** Records that the user picks, whose ids it writes. */
	picked?: PickedField[];
	/** For a request other than the record's own: its path below that of the record, and the values that the record has afterwards. */
	requestFor?: (pickedIds: IDataObject) => { below: string } & Pick<Write, 'sets'>;
	/** By default, the record that the service returns. */
	resultFrom?: ResultFrom;
}

function writeRecord(offer: RecordWrite): Operation {
	const { name, value = name[0]!.toLowerCase() + name.slice(1).replaceAll(' ', ''), action = `${name} %`, description } = offer;
	const { leavesTheCrm, output, options, isNew, values, picked = [], preset, required = [], requestFor } = offer;
	return {
		option: { name, value, action, description },
		...(leavesTheCrm !== undefined && { toolAction: { leavesTheCrm } }),
		...(output !== undefined && { output }),

		properties: (resource) => [
			...(isNew ? [] : [recordProperty(resource)]),
			...picked.map(pickedProperty),
			...(values ? values.properties(resource) : []),
			...(output === undefined ? [simplifyProperty] : []),
		],
		options,
		write(described) {
			const write = offer.write(described);
			return write && { ...write, fields: fieldsInForm(write, offer) };
		},

		async prepare(execution) {
			const write = await requireWrite(execution);
			const stored = storedFields(execution.n8n, 'fields');
			const valuesOf = values ? await prepareValues(execution, stored, write.fields, values.whenCleared) : undefined;
			const idsOf = await preparePickedIds(execution, picked);
			// n8n does not check required fields here, because the mapper shows no errors (parameters/fieldParameters).
			const ofForm = isNew && stored.mode === 'each' ? write.fields.filter((field) => isRequiredInForm(field) && field.path.length === 1) : [];
			const requiredNames = [...ofForm.map((field) => field.name), ...required];

			const of = (item: number): Write => {
				const collection = collectionPath(execution, item);
				const target = isNew ? { collection, path: collection } : recordAt(execution, item);
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
				requireAnyValue(isNew ? chosen : body, isNew ? write.fields : []);
				// Without its time, a message to be sent later would be sent immediately.
				const empty = requiredNames.find((name) => isBlank(ownMember(body, name)));
				if (empty !== undefined) {
					const label = write.fields.find((field) => field.name === empty)?.label ?? labelFor(empty);
					throw new Error(`${label} is empty, so nothing was sent for this item. Enter a value.`);
				}
				return { ...target, body };
			};
			return { description: write, of, resultFrom: offer.resultFrom ?? (await simplifyWritten(execution)) };
		},
	};
}

function fieldsInForm({ fields }: WriteDescription, { preset = {}, only, without = [], required = [] }: Presets): WriteDescription['fields'] {
	return fields
		.filter(({ name }) => !Object.hasOwn(preset, name) && !without.includes(name) && (only?.includes(name) ?? true))
		.map((field) => (required.includes(field.name) ? { ...field, required: true } : field));
}

const creation = {
	write: (description) => description.create,
	isNew: true,
	values: { properties: fieldsProperties, whenCleared: 'skip' },
} satisfies Partial<RecordWrite>;

export const create = writeRecord({
	name: 'Create',
	description: 'Create a new record',
	...creation,
	options: [...batchOptions, valuesInOption, writeOncePerOption],
});

/** A creation with a name and values of its own, such as sending a message. */
export const namedCreate = (offer: Entry & Presets & { leavesTheCrm?: true }): Operation =>
	writeRecord({ leavesTheCrm: false, ...offer, ...creation, options: [...batchOptions, writeOncePerOption] });

export const update = writeRecord({
	name: 'Update',
	description: 'Update some fields of a record and leave the others unchanged',
	write: (description) => description.update,
	options: [...batchOptions, ifEmptyOption, emptyCellsOption, valuesInOption],
	values: { properties: (resource) => [...fieldsProperties(resource), ...blankNotices], whenCleared: 'clear' },
});

/** An update under a name of its own, of some fields, such as closing a ticket. */
export const namedUpdate = ({ only = [], ...offer }: Entry & Presets & Pick<RecordWrite, 'picked'>): Operation =>
	writeRecord({
		...offer,
		only,
		leavesTheCrm: false,
		write: (description) => description.update,
		options: [...writeOptions, ifEmptyOption],
		values: only.length > 0 && { properties: () => fieldsProperties(), whenCleared: 'clear' },
	});

export const deleteRecord = writeRecord({
	name: 'Delete',
	description: 'Delete a record',
	output: { type: 'object', properties: { deleted: { type: 'boolean' } } },
	write: (description) => description.delete,
	options: [...batchOptions.filter((option) => option !== addNamesOption), ifEmptyOption],
	requestFor: () => ({ below: '' }),
	resultFrom: () => ({ deleted: true }),
});

interface RecordAction extends Entry, Pick<Operation, 'output'> {
	leavesTheCrm?: true;
	takesValues?: true;
	/** The values that the record has afterwards. */
	sets?: IDataObject;
}

/**
 * An action on one record other than changing its values, such as winning a deal.
 *
 * @param segment the last segment of its path: `win` of `POST /deals/{id}/win`
 */
export const recordAction = (segment: string, { takesValues, sets, ...offer }: RecordAction): Operation =>
	writeRecord({
		leavesTheCrm: false,
		...offer,
		...(offer.output !== undefined && { resultFrom: (answer: IDataObject) => answer }),
		write: ({ recordActions }) => recordActions[segment],
		options: [...writeOptions, ifEmptyOption],
		values: takesValues && { properties: () => fieldsProperties(), whenCleared: 'skip' },
		requestFor: () => ({ below: `/${segment}`, ...(sets && { sets: () => sets }) }),
	});

const pickedTag: PickedField = { field: 'tag_ids', name: 'tagId', displayName: 'Tag', method: 'searchTags', collection: '/tags' };

const tagOperation = (value: 'addTag' | 'removeTag', entry: Entry): Operation => writeRecord({
	...entry,
	write: (writes) => writes[value],
	options: [...writeOptions, ifEmptyOption],
	picked: [pickedTag],
	requestFor({ tag_ids: tagId }) {
		const id = String(tagId);
		const sets = ({ tag_ids }: IDataObject): IDataObject => {
			const others = listIn(tag_ids).map(String).filter((other) => other !== id);
			return { tag_ids: value === 'addTag' ? [...others, id] : others };
		};
		return { below: path`/tags/${id}`, sets };
	},
});

export const tagOperations = [
	tagOperation('addTag', { name: 'Add Tag', action: 'Add tag to record', description: 'Add a tag to a record' }),
	tagOperation('removeTag', { name: 'Remove Tag', action: 'Remove tag from record', description: 'Remove a tag from a record' }),
];
