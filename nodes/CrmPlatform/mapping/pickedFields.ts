import type { IExecuteFunctions } from 'n8n-workflow';

import type { Collection } from '../api/http/path';
import type { EvaluatedValue } from '../fields/decideValue';
import { fieldNamed, type Field } from '../fields/field';
import { asId } from '../lookUp/names';
import type { NodeRun } from '../model';
import { isFromList, pickedId, storedParameter } from './locator';

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

/** A pick, its field, and whether its value is certainly an ID. */
type PickedRecord = PickedField & { described: Field; isId: boolean };

/** The fields of picked records, as the service describes them. */
export async function pickedRecords({ n8n, api, resource }: NodeRun, picked: PickedField[]): Promise<PickedRecord[]> {
	const fields = picked.length > 0 ? (await api.describe(resource.path))?.update?.fields ?? [] : [];
	return picked.map((pick) => {
		const { field: fieldName, name, displayName: label, collection } = pick;
		const described = collection === undefined ? fields.find((field) => field.name === fieldName) : undefined;
		const undescribed = fieldNamed(fieldName, { label, ...(collection !== undefined && { collection }) });
		return { ...pick, described: described ?? undescribed, isId: isFromList(storedParameter(n8n, name, '')) };
	});
}

/** The records that are picked or named for an item. @throws Error in the user's words if a required one is not picked */
export const pickedValues = (n8n: IExecuteFunctions, picks: PickedRecord[], item: number): EvaluatedValue[] =>
	picks.flatMap(({ described: field, name, displayName, isOptional, isId }): EvaluatedValue[] => {
		const id = pickedId(n8n, name, item);
		if (id !== '') return [{ field, value: isId ? asId(field, id) : id, givenBy: 'form' }];
		if (isOptional) return [];
		throw new Error(`${displayName} is empty. Choose from the list, or enter a name or an ID.`);
	});
