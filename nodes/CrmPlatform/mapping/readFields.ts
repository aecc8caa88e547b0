import { sleep, type IDataObject } from 'n8n-workflow';

import { isObject } from '../api/http/json';
import { ownMember, setMember } from '../api/http/ownMembers';
import type { Field } from '../fields/field';
import type { Execution } from '../model';
import { fieldsWithCustom, oncePerFields, type AcceptedFieldsOf } from './acceptedFields';
import { mayChangeItem } from './expressions/evaluateValues';
import { findIds, type ItemIds } from './itemIds';
import { refersToRecords } from './references';
import { mappedValues } from './mappedValues';
import type { FieldValue } from './objectFields';
import { storedMapping, type Mapping } from './stored';
import { noNotices, unsentValues } from './unsentValues';
import { apiValue } from '../fields/fieldKinds';

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
	return await readMapping(execution, storedMapping(execution.n8n, parameter), fields, nulls, others);
}

/** The same for a mapping that is known. */
export async function readMapping(
	execution: Execution,
	mapping: Mapping,
	fields: Field[],
	nulls: Nulls,
	others: string[] = [],
): Promise<ReadFields> {
	const accepted = await fieldsWithCustom(execution, mapping, fields);
	const ids = await referencesIn(execution, mapping, accepted);
	const read = mappedValues(execution, mapping, accepted, unsentValues(execution.api, new Set(others)));
	const zone = execution.n8n.getTimezone();

	return (item) => {
		const body: IDataObject = {};
		const values = read(item).map(([field, given]): FieldValue => [field, apiValue(field, given, zone)]);
		for (const [field, value] of values) {
			if (value === null && nulls === 'skip') continue;
			put(body, field.path, ids(field, value, values));
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

/** Finds the ids of the records, and of their parts, that the items refer to by name. */
async function referencesIn(
	execution: Execution,
	mapping: Mapping,
	acceptedFor: AcceptedFieldsOf,
): Promise<ItemIds> {
	const refers = (field: Field) => refersToRecords(field) || field.part !== undefined;
	const named = mapping.mode === 'each' ? new Set(mapping.mapped.map(([name]) => name)) : undefined;
	const isOnce = mapping.mode === 'each' && mayChangeItem(mapping.mapped.map(([, value]) => ({ value })));
	// By hand, only what refers to a record has to be evaluated beforehand, unless it may change the item.
	const narrowed = oncePerFields((accepted) => {
		const isWanted = (field: Field) => refers(field) && (named?.has(field.name) ?? false);
		if (named && !accepted.fields.some(isWanted)) return { ...accepted, fields: [] };
		return named && !isOnce ? { ...accepted, fields: accepted.fields.filter(isWanted) } : accepted;
	});
	const otherNames = oncePerFields(
		({ fields }) => new Set(fields.filter((field) => !refers(field)).map(({ name }) => name)),
	);
	const mayRefer = (item: number): boolean => {
		if (mapping.mode === 'each') return narrowed(acceptedFor(item)).fields.length > 0;
		const others = otherNames(acceptedFor(item));
		return Object.keys(mapping.objectOf(item)).some((name) => !others.has(name));
	};
	const read = mappedValues(execution, { ...mapping, linked: [] }, (item) => narrowed(acceptedFor(item)), noNotices);

	const given: FieldValue[] = [];
	for (const item of execution.n8n.getInputData().keys()) {
		// Expressions of many items would hold up everything else that n8n does.
		if (item % 1_000 === 999) await sleep(0);
		try {
			if (!mayRefer(item)) continue;
			for (const value of read(item)) if (refers(value[0])) given.push(value);
		} catch {
			// The item fails with this error when its turn comes.
		}
	}
	return await findIds(execution.api, given, 'written');
}
