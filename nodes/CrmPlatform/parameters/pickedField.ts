import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { pickedId } from '../mapping/locator';
import type { Execution } from '../model';
import { pickerProperty } from './recordParameters';

/** A field that holds the id of another record, picked from a searchable list. */
export interface PickedField {
	/** Name of the field: `assignee_id`. */
	field: string;
	/** Name of the node's parameter: `assigneeId`. */
	name: string;
	displayName: string;
	/** The method that searches the records. */
	method: string;
	/** Whether it can be left out. */
	isOptional?: boolean;
	description?: string;
}

export function pickedProperty(field: PickedField): INodeProperties {
	const { displayName, name, method, isOptional = false, description } = field;
	const property = pickerProperty(displayName, name, method, { isOptional });
	return description === undefined ? property : { ...property, description };
}

/**
 * The ids picked for an item, by field.
 *
 * @throws Error in the user's words where a required one was not picked
 */
export function pickedValues({ n8n }: Execution, picked: PickedField[], item: number): IDataObject {
	const values: IDataObject = {};
	for (const { field, name, displayName, isOptional } of picked) {
		const id = pickedId(n8n, name, item);
		if (id !== '') values[field] = id;
		else if (!isOptional) {
			throw new Error(`${displayName} is empty. Choose from the list or enter an ID.`);
		}
	}
	return values;
}
