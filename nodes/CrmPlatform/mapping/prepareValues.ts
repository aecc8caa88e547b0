import type { IDataObject } from 'n8n-workflow';

import { setAtPath } from '../api/http/ownMembers';
import type { Field } from '../fields/field';
import { apiValue } from '../fields/apiValue';
import type { Execution } from '../model';
import { fieldsWithCustom } from './acceptedFields';
import { decideValue } from './decideValue';
import { itemValues } from './itemValues';
import { findIds } from './linkedIds';
import type { FieldValue } from './objectFields';
import { storedFields, type StoredFields } from './storedFields';
import { onlyBlanks, unsentValues } from './unsentValues';

/** The values of one input item, as the service takes them. */
export type ValuesOf = (item: number) => IDataObject;

/**
 * Prepares the conversion of input items into bodies, in three steps: the parameters as stored
 * (`storedFields`), their values for the item (`itemValues`), and the values for the service (`decideValue`,
 * then `apiValue` and IDs for names). The first step, and everything that items share, runs once; the others
 * run per item.
 *
 * A picked record takes precedence over a mapped value. Names in a field that holds the id of another record
 * are replaced by the id.
 *
 * @param parameter the node's, such as `fields`
 * @param fields the fields the service takes
 * @param nulls what clearing a field does in this operation
 * @param others names of item values with other purposes
 * @throws Error from the returned function, in the user's words, if a value does not fit its field, or if none
 * of an item's values can be sent
 */
export async function prepareValues(
	execution: Execution,
	parameter: string,
	fields: Field[],
	nulls: 'clear' | 'skip',
	others: string[] = [],
): Promise<ValuesOf> {
	return await prepareStoredValues(execution, storedFields(execution.n8n, parameter), fields, nulls, others);
}

/** The same for parameters already read: evaluates them, finds the records they name, and converts. */
export async function prepareStoredValues(
	execution: Execution,
	stored: StoredFields,
	fields: Field[],
	nulls: 'clear' | 'skip',
	others: string[] = [],
): Promise<ValuesOf> {
	const { n8n, api } = execution;
	const unsent = unsentValues(api, new Set(others));
	const values = itemValues(n8n, stored, unsent);
	const acceptedFor = await fieldsWithCustom(execution, stored.mode, values.names, fields);
	const ids = await findIds(execution, (item) => values.references(item, acceptedFor(item)), 'written');
	const zone = n8n.getTimezone();
	return (item) => {
		const decided = values.all(item, acceptedFor(item)).map((mapped) => ({ field: mapped.field, ...decideValue(mapped, nulls) }));
		const skipped = decided.filter((decision) => decision.action === 'skip');
		for (const { field, reason } of skipped) if (reason === 'undefined') unsent.noValue(field);
		const isBlankItem = decided.length > 0 && skipped.filter(({ reason }) => reason === 'blank').length === decided.length;
		if (isBlankItem && stored.mode !== 'each') throw onlyBlanks(decided.map(({ field }) => field.label));
		const converted = decided.flatMap((decision): FieldValue[] => {
			if (decision.action === 'skip') return [];
			return [[decision.field, decision.action === 'clear' ? null : apiValue(decision.field, decision.value, zone)]];
		});
		const body: IDataObject = {};
		for (const [field, value] of converted) setAtPath(body, field.path, ids(field, value, converted));
		return body;
	};
}
