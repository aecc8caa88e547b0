import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../api/http/json';
import { ownMember, setMember } from '../api/http/ownMembers';
import type { Field } from '../fields/field';
import { apiValue } from '../fields/fieldKinds';
import type { Execution } from '../model';
import { fieldsWithCustom } from './acceptedFields';
import { itemValues } from './itemValues';
import { findIds } from './linkedIds';
import type { FieldValue } from './objectFields';
import { storedFields, type StoredFields } from './stored';
import { unsentValues } from './unsentValues';

/** The values of one input item, as the service takes them. */
export type ReadFields = (item: number) => IDataObject;

/** What null does: `clear` sends it, `skip` sends nothing. */
type Nulls = 'clear' | 'skip';

/**
 * Reads the values a user gave for the fields of a write, whichever way they are mapped:
 * - by hand: a blank is not sent, null clears the field, undefined is left out and told
 * - as one JSON object: null clears
 * - automatically, the item's own values: an empty cell is left out, or clears where the user says so
 *
 * A picked record takes precedence over a mapped value. Names in a field that holds the id of
 * another record are replaced by the id.
 *
 * @param parameter the node's, such as `fields`
 * @param fields the fields the service takes
 * @param others names of values that the items have for other purposes
 * @throws Error from the returned function, in the user's words, where a value does not fit its
 * field, and where an item has values of which none can be sent
 */
export async function readFields(
	execution: Execution,
	parameter: string,
	fields: Field[],
	nulls: Nulls,
	others: string[] = [],
): Promise<ReadFields> {
	return await readStored(execution, storedFields(execution.n8n, parameter), fields, nulls, others);
}

/** The same for parameters that are read already: evaluates them, finds the records they name, and converts. */
export async function readStored(
	execution: Execution,
	stored: StoredFields,
	fields: Field[],
	nulls: Nulls,
	others: string[] = [],
): Promise<ReadFields> {
	const { n8n, api } = execution;
	const values = itemValues(n8n, stored, unsentValues(api, new Set(others)));
	const acceptedFor = await fieldsWithCustom(execution, stored.mode, values.names, fields);
	const ids = await findIds(execution, (item) => values.references(item, acceptedFor(item)), 'written');
	const zone = n8n.getTimezone();
	return (item) => {
		const converted = values.all(item, acceptedFor(item)).map(([field, value]): FieldValue => [field, apiValue(field, value, zone)]);
		const body: IDataObject = {};
		for (const [field, value] of converted) {
			if (value !== null || nulls === 'clear') put(body, field.path, ids(field, value, converted));
		}
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
