import type { Connection } from '../api/connection';
import type { Field } from '../fields/field';
import type { FieldValue } from './objectFields';
import { findParts } from './recordParts';
import { findReferences, type ReferenceUse } from './references';

/**
 * Replaces names by ids in the value of a field that refers to other records, or to their parts.
 *
 * @param values all values of the item
 */
export type ItemIds = (field: Field, value: unknown, values: FieldValue[]) => unknown;

/** Finds the records, and their parts, that values name. */
export async function findIds(api: Connection, given: FieldValue[], use: ReferenceUse): Promise<ItemIds> {
	const recordIds = await findReferences(api, given, use);
	const partIds = await findParts(api, given, use);
	return (field, value, values) => {
		if (field.part === undefined) return recordIds(field, value);
		const whole = values.findLast(([other]) => other.reference === field.reference && other.part === undefined);
		return partIds(field, value, whole && recordIds(...whole));
	};
}
