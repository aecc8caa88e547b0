import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../api/http/json';
import { ownMember, setMember } from '../api/http/ownMembers';
import type { Field } from '../fields/field';
import { apiValue } from '../fields/fieldKinds';
import type { Execution } from '../model';
import { fieldsWithCustom } from './acceptedFields';
import { decideValue } from './decideValue';
import { itemValues } from './itemValues';
import { findIds } from './linkedIds';
import type { FieldValue } from './objectFields';
import { storedFields, type StoredFields } from './stored';
import { onlyBlanks, unsentValues } from './unsentValues';

/** The values of one input item, as the service takes them. */
export type ValuesOf = (item: number) => IDataObject;

/**
 * Prepares what turns an input item into the body of its write, in three steps: what the parameters say
 * (`storedFields`), what that is for the item (`itemValues`), and what the service takes (`decideValue`, then
 * `apiValue` and IDs for names). The first is done here, and what all items share; the others for each item.
 *
 * A picked record takes precedence over a mapped value. Names in a field that holds the id of
 * another record are replaced by the id.
 *
 * @param parameter the node's, such as `fields`
 * @param fields the fields the service takes
 * @param nulls what clearing a field does in this operation
 * @param others names of values that the items have for other purposes
 * @throws Error from the returned function, in the user's words, where a value does not fit its
 * field, and where an item has values of which none can be sent
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

/** The same for parameters that are read already: evaluates them, finds the records they name, and converts. */
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
		const skipped = decided.filter((one) => one.action === 'skip');
		for (const { field, reason } of skipped) if (reason === 'undefined') unsent.noValue(field);
		const isBlankItem = decided.length > 0 && skipped.filter(({ reason }) => reason === 'blank').length === decided.length;
		if (isBlankItem && stored.mode !== 'each') throw onlyBlanks(decided.map(({ field }) => field.label));
		const converted = decided.flatMap((one): FieldValue[] => {
			if (one.action === 'skip') return [];
			return [[one.field, one.action === 'clear' ? null : apiValue(one.field, one.value, zone)]];
		});
		const body: IDataObject = {};
		for (const [field, value] of converted) put(body, field.path, ids(field, value, converted));
		return body;
	};
}

function put(body: IDataObject, path: string[], value: unknown): void {
	const key = path[0] ?? '';
	if (path.length <= 1) {
		// A member mapped by itself takes precedence over the mapped object.
		const parts = ownMember(body, key);
		if (!isObject(parts)) setMember(body, key, value);
		// Nor does an object without a value take away what a member of it has.
		else if (value !== null) setMember(body, key, isObject(value) ? { ...value, ...parts } : value);
		return;
	}
	// A copy: the object may be part of the item.
	const inner = { ...(ownMember(body, key) as IDataObject | undefined) };
	setMember(body, key, inner);
	put(inner, path.slice(1), value);
}
