import type { IDataObject } from 'n8n-workflow';

import type { Collection } from '../api/http/path';
import { orThrow, resultOrError } from '../base/errorOf';
import { fieldNamed, type ConvertedValue } from '../fields/field';
import { asId } from '../lookUp/names';
import type { NodeRun } from '../model';
import { readEach } from './expressions/evaluation';
import { findNamedRecords } from './findNamedRecords';
import { isFromList, pickedId, storedParameter } from './locator';
import { replaceNames } from './replaceNames';

/** A field that holds the id of another record, picked from a searchable list. */
export interface PickedField {
	/** Name of the field: `assignee_id`. */
	field: string;
	/** Name of the node's parameter: `assigneeId`. */
	name: string;
	displayName: string;
	/** The method that searches the records. */
	method: string;
	/** The collection of the records, if no field of the service says it. */
	collection?: Collection;
	/** Whether the user may leave it empty. */
	isOptional?: boolean;
	description?: string;
}

/**
 * Reads the records that are picked or named for the items, as ids.
 *
 * @returns the ids for each item, by field; an error in the user's words if a required record is not picked, or if a name
 * does not belong to exactly one record
 */
export async function pickedIdsOfItems(execution: NodeRun, picked: PickedField[]): Promise<Array<IDataObject | Error>> {
	const { n8n, api, resource } = execution;
	const items = n8n.getInputData();
	if (picked.length === 0) return items.map(() => ({}));
	const fields = (await api.describe(resource.path))?.update?.fields ?? [];
	const pickedFields = picked.map((pickedField) => {
		const { field: fieldName, name, displayName: label, collection } = pickedField;
		const described = collection === undefined ? fields.find((field) => field.name === fieldName) : undefined;
		const field = described ?? fieldNamed(fieldName, { label, ...(collection !== undefined && { collection }) });
		return { ...pickedField, field, isId: isFromList(storedParameter(n8n, name, '')) };
	});
	// A picked id or name is text, and needs no conversion.
	const read = await readEach(items.length, (item) =>
		pickedFields.flatMap(({ field, name, displayName, isOptional, isId }): ConvertedValue[] => {
			const id = pickedId(n8n, name, item);
			if (id !== '') return [{ field, converted: isId ? asId(field, id) : id }];
			if (isOptional) return [];
			throw new Error(`${displayName} is empty. Choose from the list, or enter a name or an ID.`);
		}));
	const check = execution.checks?.links === 'names' ? 'names' : 'none';
	const named = await findNamedRecords({ ...execution, check }, read.map((values) => (values instanceof Error ? [] : values)));
	return read.map((result) => resultOrError(() => {
		const values = orThrow(result);
		return Object.fromEntries(values.map((value) => [value.field.name, replaceNames(named, value, values)])) as IDataObject;
	}));
}
