import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { encodedPath } from '../api/http/path';
import type { WriteDescription } from '../api/openapi/writing';
import { orThrow, resultOrError, resultsOrErrors } from '../base/results';
import { getOrCreate } from '../base/maps';
import { ownMember, withoutMembers } from '../base/ownMembers';
import { isRequiredInForm, labelFor } from '../fields/field';
import { bodiesOfItems } from '../mapping/itemValues';
import type { PickedField } from '../mapping/readItems';
import { noStoredFields, storedFields } from '../mapping/storedFields';
import type { Operation, Write, WrittenOutput } from '../model';
import { blankNotices, emptyCellsOption, fieldsProperties, valuesInOption } from '../parameters/fieldParameters';
import { addNamesOption, batchOptions, simplifyProperty, writeOncePerOption, writeOptions } from '../parameters/outputParameters';
import { ifEmptyOption, newRecordAt, pickedProperty, recordAt, recordProperty } from '../parameters/recordParameters';
import { isBlank, listIn } from '../values/blank';
import { requireAnyValue, requireWrite } from '../writing/requireWrite';
import { chosenOutput } from '../writing/sendAlone';

/** An entry of the menu: its `value` is the name as an identifier, and its `action` the name and `%`, unless it says otherwise. */
interface Entry {
	name: string;
	value?: string;
	action?: string;
	description: string;
	/** For an action that a toolkit offers (`Operation.toolAction`). */
	leavesTheCrm?: boolean;
}

/** How a special operation changes the fields of a write. */
interface Presets {
	/** Always written, and not shown in the form. */
	preset?: IDataObject;
	/** The only fields shown in the form. */
	only?: string[];
	without?: string[];
	required?: string[];
}

/** What n8n's menu and lists say of an operation. */
function menuEntry(entry: Entry & Pick<Operation, 'output'>): Pick<Operation, 'option' | 'toolAction' | 'output'> {
	const { name, description, action = `${name} %`, leavesTheCrm, output } = entry;
	const value = entry.value ?? name[0]!.toLowerCase() + name.slice(1).replaceAll(' ', '');
	return {
		option: { name, value, action, description },
		...(leavesTheCrm !== undefined && { toolAction: { leavesTheCrm } }),
		...(output !== undefined && { output }),
	};
}

/** An operation that creates a record for each item, or changes the one that the user picks. */
interface ValueOffer extends Entry, Presets {
	/** Whether it creates records. */
	isNew: boolean;
	/** The parameters for values; absent if it takes none. */
	values?: Operation['properties'] | false;
	/** Records that the user picks, whose ids it writes. */
	picked?: PickedField[];
	options: INodeProperties[];
}

function valueOperation(offer: ValueOffer): Operation {
	const { isNew, values, picked = [], options, preset, required = [] } = offer;
	return {
		...menuEntry(offer),
		properties: (resource) => [
			...(isNew ? [] : [recordProperty(resource)]),
			...picked.map(pickedProperty),
			...(values ? values(resource) : []),
			simplifyProperty,
		],
		options,
		describedWrite({ create: creation, update: change }) {
			const described = isNew ? creation : change;
			return described && { ...described, fields: fieldsInForm(described, offer) };
		},

		async prepare(run) {
			const description = await requireWrite(run);
			const { fields } = description;
			const stored = values ? storedFields(run, 'fields') : noStoredFields;
			// n8n does not check required fields here, because the mapper shows no errors (parameters/fieldParameters).
			const ofForm = isNew && stored.mode === 'each' ? fields.filter((field) => isRequiredInForm(field) && field.path.length === 1) : [];
			const requiredNames = [...ofForm.map((field) => field.name), ...required];
			// Once for each item: an expression that changes its item would return another record the second time.
			const targets = new Map<number, ReturnType<typeof newRecordAt | typeof recordAt> | Error>();
			const targetOf = (item: number) =>
				orThrow(getOrCreate(targets, item, () => resultOrError(() => (isNew ? newRecordAt(run, item) : recordAt(run, item)))));
			// The picked record is the one to change; an item's own id names the record it came from.
			const bodyOf = (values: IDataObject): IDataObject => ({ ...(isNew ? values : withoutMembers(values, 'id')), ...preset });
			const check = (item: number, values: IDataObject): void => {
				targetOf(item);
				const body = bodyOf(values);
				// The preset alone is a change, such as the state of a ticket, but not a record.
				requireAnyValue(isNew ? values : body);
				// Without its time, a message to be sent later would be sent immediately.
				const empty = requiredNames.find((name) => isBlank(ownMember(body, name)));
				if (empty === undefined) return;
				const label = fields.find((field) => field.name === empty)?.label ?? labelFor(empty);
				throw new Error(`${label} is empty, so nothing was sent for this item. Enter a value.`);
			};
			const bodies = await bodiesOfItems(run, { stored, fields, picked, whenCleared: isNew ? 'skip' : 'clear' }, check);
			const writes = await resultsOrErrors(bodies.length, (item): Write => ({ ...targetOf(item), body: bodyOf(orThrow(bodies[item]!)) }));
			return { description, writes, output: await chosenOutput(run) };
		},
	};
}

function fieldsInForm({ fields }: WriteDescription, { preset = {}, only, without = [], required = [] }: Presets): WriteDescription['fields'] {
	return fields
		.filter(({ name }) => !Object.hasOwn(preset, name) && !without.includes(name) && (only?.includes(name) ?? true))
		.map((field) => (required.includes(field.name) ? { ...field, required: true } : field));
}

export const create = valueOperation({
	name: 'Create',
	description: 'Create a new record',
	isNew: true,
	values: fieldsProperties,
	options: [...batchOptions, valuesInOption, writeOncePerOption],
});

/** A creation with a name and values of its own, such as sending a message. */
export const namedCreate = (offer: Entry & Presets): Operation =>
	valueOperation({ leavesTheCrm: false, ...offer, isNew: true, values: fieldsProperties, options: [...batchOptions, writeOncePerOption] });

export const update = valueOperation({
	name: 'Update',
	description: 'Update some fields of a record and leave the others unchanged',
	isNew: false,
	values: (resource) => [...fieldsProperties(resource), ...blankNotices],
	options: [...batchOptions, ifEmptyOption, emptyCellsOption, valuesInOption],
});

/** An update under a name of its own, of some fields, such as closing a ticket. */
export const namedUpdate = ({ only = [], ...offer }: Entry & Presets & Pick<ValueOffer, 'picked'>): Operation =>
	valueOperation({
		...offer,
		only,
		leavesTheCrm: false,
		isNew: false,
		values: only.length > 0 && (() => fieldsProperties()),
		options: [...writeOptions, ifEmptyOption],
	});

/** An operation on the record that the user picks, other than changing its values. */
interface RequestOffer extends Entry, Pick<Operation, 'output'> {
	describedWrite: NonNullable<Operation['describedWrite']>;
	takesValues?: true | undefined;
	picked?: PickedField[];
	options: INodeProperties[];
	/** Its path below that of the record, and the values that the record has afterwards. @param values entered, and the ids of picked records */
	requestFor: (values: IDataObject) => { below: string } & Pick<Write, 'sets'>;
	/** By default, as the user chose. */
	writtenOutput?: WrittenOutput | undefined;
}

function requestOperation(offer: RequestOffer): Operation {
	const { describedWrite, takesValues, picked = [], options, output, requestFor, writtenOutput } = offer;
	return {
		...menuEntry(offer),
		properties: (resource) => [
			recordProperty(resource),
			...picked.map(pickedProperty),
			...(takesValues ? fieldsProperties() : []),
			...(output === undefined ? [simplifyProperty] : []),
		],
		options,
		describedWrite,

		async prepare(run) {
			const description = await requireWrite(run);
			const stored = takesValues ? storedFields(run, 'fields') : noStoredFields;
			const bodies = await bodiesOfItems(run, { stored, fields: description.fields, picked, whenCleared: 'skip' });
			const writes = await resultsOrErrors(bodies.length, (item): Write => {
				const target = recordAt(run, item);
				const body = orThrow(bodies[item]!);
				const { below, sets } = requestFor(body);
				return { ...target, path: target.path + below, sets, body: takesValues ? body : undefined };
			});
			return { description, writes, output: writtenOutput ?? (await chosenOutput(run)) };
		},
	};
}

export const deleteRecord = requestOperation({
	name: 'Delete',
	description: 'Delete a record',
	output: { type: 'object', properties: { deleted: { type: 'boolean' } } },
	describedWrite: ({ delete: deletion }) => deletion,
	options: [...batchOptions.filter((option) => option !== addNamesOption), ifEmptyOption],
	requestFor: () => ({ below: '' }),
	writtenOutput: { isDeletion: true },
});

/** An action on one record. @param segment the last one of its path: `win` of `POST /deals/{id}/win` */
export const recordAction = (
	segment: string,
	{ sets, ...offer }: Entry & Pick<RequestOffer, 'output' | 'takesValues'> & { sets?: IDataObject },
): Operation =>
	requestOperation({
		leavesTheCrm: false,
		...offer,
		describedWrite: ({ recordActions }) => recordActions[segment],
		options: [...writeOptions, ifEmptyOption],
		requestFor: () => ({ below: `/${segment}`, sets: sets && (() => sets) }),
		writtenOutput: offer.output === undefined ? undefined : {},
	});

const pickedTag: PickedField = { field: 'tag_ids', name: 'tagId', displayName: 'Tag', method: 'searchTags', collection: '/tags' };

const tagOperation = (value: 'addTag' | 'removeTag', entry: Entry): Operation => requestOperation({
	...entry,
	describedWrite: (resource) => resource[value],
	options: [...writeOptions, ifEmptyOption],
	picked: [pickedTag],
	requestFor({ tag_ids: tagId }) {
		const id = String(tagId);
		const sets = ({ tag_ids }: IDataObject): IDataObject => {
			const others = listIn(tag_ids).map(String).filter((other) => other !== id);
			return { tag_ids: value === 'addTag' ? [...others, id] : others };
		};
		return { below: encodedPath`/tags/${id}`, sets };
	},
});

export const tagOperations = [
	tagOperation('addTag', { name: 'Add Tag', action: 'Add tag to record', description: 'Add a tag to a record' }),
	tagOperation('removeTag', { name: 'Remove Tag', action: 'Remove tag from record', description: 'Remove a tag from a record' }),
];
