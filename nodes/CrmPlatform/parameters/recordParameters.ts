import { isExpression, type INodeProperties } from 'n8n-workflow';

import { encodedPath, type Collection } from '../api/http/path';
import { collectionPath, createdMode, locatorValue, pickedId, storedParameter } from '../mapping/locator';
import { SkippedItem, type NodeRun, type MenuEntry } from '../model';
import { parseOption } from '../values/parsers';
import type { PickedField } from '../mapping/readItems';
import { choiceProperty } from './properties';

/** The parameters that the fields of a record depend on; the last one is the custom object. */
export const fieldsDependOn = ['resource', 'kind', 'operation', 'objectKey.value', 'events'];

/** The picker of the record that an operation reads or changes. Its list depends on the record type. */
export function recordProperty({ name, recordTypes }: Pick<MenuEntry, 'name' | 'recordTypes'>): INodeProperties {
	return {
		...pickerProperty(recordTypes ? 'Record' : name, 'recordId', 'searchRecords'),
		typeOptions: { loadOptionsDependsOn: ['kind', 'objectKey.value'] },
		builderHint: { propertyHint: 'The record, by its ID' },
	};
}

const byId = { name: 'id', displayName: 'By ID', hint: 'The ID of the record, as returned by Get Many' };

/** A mode in which names are looked up. Its name is not `id`, since n8n labels that mode By ID. */
export const byNameOrId = { name: 'name', displayName: 'By Name or ID' };

export const userByNameOrId = { ...byNameOrId, hint: 'A name, an email or an ID' };

/**
 * The picker of one record: from a searchable list, or by its id.
 *
 * @param more whether the user may leave it empty, and the mode besides the list, which is By ID if absent
 */
export function pickerProperty(
	displayName: string,
	name: string,
	method: string,
	{ isOptional = false, by = byId }: { isOptional?: boolean; by?: typeof byNameOrId & { hint?: string } } = {},
): INodeProperties {
	return {
		displayName,
		name,
		type: 'resourceLocator',
		default: { mode: 'list', value: '' },
		...(!isOptional && { required: true }),
		modes: [
			{
				displayName: 'From List',
				name: 'list',
				type: 'list',
				typeOptions: { searchListMethod: method, searchable: true },
			},
			{ ...by, type: 'string' },
		],
	};
}

/** The picker of a record that the field in the same row links to. Its list depends on that field. */
export const linkedPicker: INodeProperties = {
	...pickerProperty('Record', 'record', 'searchLinked', {
		isOptional: true,
		by: { ...byNameOrId, hint: 'A name or ID. For people, also an email; for companies, also a domain.' },
	}),
	typeOptions: { loadOptionsDependsOn: ['&field'] },
};

/** The same for a record that is written, which may link to a new one. */
export const linkedOrNewPicker: INodeProperties = {
	...linkedPicker,
	modes: [...(linkedPicker.modes ?? []), { ...byNameOrId, name: createdMode, displayName: 'By Name, Created If None', type: 'string' }],
};

const emptyId = 'The ID is empty: the expression returned nothing for this item';

interface ItemRecord {
	collection: Collection;
	id: string;
	/** Path of the record itself. */
	path: string;
}

export const ifEmptyOption = choiceProperty('If Empty', 'ifEmpty', 'skip', [
	['Fail', 'fail'],
	['Skip the Item', 'skip'],
], { description: 'If the record is an expression without a value' });

export function newRecordAt(run: NodeRun, item: number): Omit<ItemRecord, 'id'> & { id?: undefined } {
	const collection = collectionPath(run, item);
	return { collection, path: collection };
}

/**
 * The record picked for an item.
 *
 * @throws SkippedItem if its expression returns nothing and the user has chosen to skip such items; Error in the user's
 * words if nothing is picked
 */
export function recordAt(run: NodeRun, item: number): ItemRecord {
	const { n8n, api } = run;
	const collection = collectionPath(run, item);
	const id = pickedId(n8n, 'recordId', item);
	if (id === '' && isExpression(locatorValue(storedParameter(n8n, 'recordId', '')))) {
		const skips = parseOption(ifEmptyOption.displayName, n8n.getNodeParameter('options.ifEmpty', item, 'fail'), ['fail', 'skip']) === 'skip';
		if (!skips) throw new Error(`${emptyId}. Correct the expression, or choose Options → If Empty → Skip the Item.`);
		api.notices.add('At least one item was skipped: the expression of its record returned nothing (If Empty).');
		throw new SkippedItem(emptyId);
	}
	return { collection, id, path: collection + encodedPath`/${id}` };
}

export function pickedProperty(field: PickedField): INodeProperties {
	const { displayName, name, method, isOptional = false, description } = field;
	const property = pickerProperty(displayName, name, method, { isOptional, by: method === 'searchUsers' ? userByNameOrId : byNameOrId });
	return description === undefined ? property : { ...property, description };
}
