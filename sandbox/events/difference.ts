import { isObject } from '../foundation/json.ts';
import type { StoredRecord } from '../schemas/resource.ts';

/** What a change has changed. */
export interface Difference {
	/** The fields that changed, as they were. */
	previous: Record<string, unknown>;
	/** Their names; of a custom field, `custom_fields.<key>`. */
	changed: string[];
}

/** They change with every change, and so tell nothing. */
const always = ['version', 'updated_at', 'updated_by'];

/** Custom fields are compared one by one, all other fields as a whole. */
export function differenceOf(stored: StoredRecord, record: StoredRecord): Difference {
	const fields = Object.keys(record).filter((field) => !always.includes(field));
	const changed = fields.filter((field) => !isSame(stored[field], record[field]));
	const previous = Object.fromEntries(changed.map((field) => [field, stored[field] ?? null]));
	const [before, after] = [stored['custom_fields'], record['custom_fields']];
	if (!changed.includes('custom_fields') || !isObject(before) || !isObject(after)) {
		return { previous, changed };
	}
	const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
		(key) => !isSame(before[key], after[key]),
	);
	return {
		previous: {
			...previous,
			custom_fields: Object.fromEntries(keys.map((key) => [key, before[key] ?? null])),
		},
		changed: changed.flatMap((field) =>
			field === 'custom_fields' ? keys.map((key) => `custom_fields.${key}`) : [field],
		),
	};
}

const isSame = (one: unknown, other: unknown): boolean =>
	JSON.stringify(one) === JSON.stringify(other);
