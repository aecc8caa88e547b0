import type { IDataObject } from 'n8n-workflow';

import { fieldNamed, type ConvertedValue, type Field, type InputValue } from '../fields/field';
import { asId } from '../lookUp/names';
import type { Execution } from '../model';
import { lookUpLinks } from './linkedIds';
import { isPickedFromList, pickedId } from './locator';

/** A field that holds the id of another record, picked from a searchable list. */
export interface PickedField {
	/** Name of the field: `assignee_id`. */
	field: string;
	/** Name of the node's parameter: `assigneeId`. */
	name: string;
	displayName: string;
	/** The method that searches the records. */
	method: string;
	/** Whether the user may leave it empty. */
	isOptional?: boolean;
	description?: string;
}

/**
 * Reads the records that are picked or named for the items, as ids.
 *
 * @param fields the fields of the service that link to the records
 * @returns a function that returns the ids for an item, by field
 * @throws Error from the returned function, in the user's words, if a required record is not picked, or if a name
 * does not belong to exactly one record
 */
export async function preparePickedIds(
	execution: Execution,
	picked: PickedField[],
	fields: Field[],
): Promise<(item: number) => IDataObject> {
	const { n8n } = execution;
	const pickedFields = picked.map((pickedField) => ({
		...pickedField,
		isFromList: isPickedFromList(n8n, pickedField.name),
		field: fields.find(({ name }) => name === pickedField.field) ?? fieldNamed(pickedField.field, { label: pickedField.displayName }),
	}));
	const valuesOf = (item: number): InputValue[] =>
		pickedFields.flatMap(({ field, name, displayName, isOptional, isFromList }): InputValue[] => {
			const id = pickedId(n8n, name, item);
			if (id !== '') return [{ field, value: isFromList ? asId(field, id) : id }];
			if (isOptional) return [];
			throw new Error(`${displayName} is empty. Choose from the list, or enter a name or an ID.`);
		});
	const linkedIds = await lookUpLinks(execution, valuesOf, execution.isChecked ? 'checked' : 'written');
	return (item) => {
		// A picked id or name is text, and needs no conversion.
		const values = valuesOf(item).map(({ field, value }): ConvertedValue => ({ field, converted: value }));
		const ids = values.map((value) => [value.field.name, linkedIds.replaceNames(value, values)]);
		return Object.fromEntries(ids) as IDataObject;
	};
}
