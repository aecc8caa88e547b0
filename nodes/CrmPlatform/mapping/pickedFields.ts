import type { Collection } from '../api/http/path';
import type { EvaluatedValue } from '../fields/decideValue';
import { fieldNamed } from '../fields/field';
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

/**
 * Prepares the reading of the records that are picked or named for fields.
 *
 * @returns reads those of an item; it throws an error in the user's words if a required one is not picked
 */
export async function pickReader({ n8n, api, resource }: NodeRun, picked: PickedField[]): Promise<(item: number) => EvaluatedValue[]> {
	const fields = picked.length > 0 ? (await api.describe(resource.path))?.update?.fields ?? [] : [];
	const picks = picked.map((pick) => {
		const { field: fieldName, name, displayName: label, collection } = pick;
		const described = collection === undefined ? fields.find((field) => field.name === fieldName) : undefined;
		const field = described ?? fieldNamed(fieldName, { label, ...(collection !== undefined && { collection }) });
		return { ...pick, field, isId: isFromList(storedParameter(n8n, name, '')) };
	});
	return (item) =>
		picks.flatMap(({ field, name, displayName, isOptional, isId }): EvaluatedValue[] => {
			const id = pickedId(n8n, name, item);
			if (id !== '') return [{ field, value: isId ? asId(field, id) : id, givenBy: 'form' }];
			if (isOptional) return [];
			throw new Error(`${displayName} is empty. Choose from the list, or enter a name or an ID.`);
		});
}
