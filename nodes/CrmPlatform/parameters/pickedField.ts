import type { IDataObject, INodeProperties } from 'n8n-workflow';

import { pickedId } from '../mapping/picked';
import type { Execution } from '../model';
import { pickerProperty } from './record';

/** A value that is the id of another record, picked from a searchable list. */
export interface PickedField {
	/** As the service calls it: `assignee_id`. */
	field: string;
	/** The node's parameter: `assigneeId`. */
	name: string;
	displayName: string;
	/** The picker that searches the records. */
	method: string;
	/** Whether it may be left out. */
	isOptional?: boolean;
}

export function pickedProperty(field: PickedField): INodeProperties {
	const { displayName, name, method, isOptional = false } = field;
	return pickerProperty(displayName, name, method, { isOptional });
}

/**
 * What was picked for an item, by the fields of the service.
 *
 * @throws Error in the user's words where one that is needed was not picked
 */
export function pickedValues({ n8n }: Execution, picked: PickedField[], item: number): IDataObject {
	const values: IDataObject = {};
	for (const { field, name, displayName, isOptional } of picked) {
		const id = pickedId(n8n, name, item);
		if (id !== '') values[field] = id;
		else if (!isOptional) {
			throw new Error(`${displayName}: nothing is picked. Pick it from the list or enter its id.`);
		}
	}
	return values;
}
