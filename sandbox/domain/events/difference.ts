import { isObject, memberNamed } from '../../core/foundation/json.ts';
import type { StoredRecord } from '../../core/schemas/resource.ts';

/** The difference between two versions of a record. */
export interface Difference {
	/** The earlier values of the fields that changed. */
	previous: Record<string, unknown>;
	/** The names of the fields that changed; `custom_fields.<key>` for custom fields. */
	changed: string[];
}

/** Every write changes these fields, so they are not reported. */
const alwaysChanged = ['version', 'updated_at', 'updated_by'];

/** Compares two versions of a record: custom fields one by one, all other fields as a whole. */
export function differenceOf(stored: StoredRecord, record: StoredRecord): Difference {
	const fields = Object.keys(record).filter((field) => !alwaysChanged.includes(field));
	const changed = fields.filter((field) => !isSameJson(stored[field], record[field]));
	const previous = Object.fromEntries(changed.map((field) => [field, stored[field] ?? null]));
	const [before, after] = [stored['custom_fields'], record['custom_fields']];
	if (!changed.includes('custom_fields') || !isObject(before) || !isObject(after)) {
		return { previous, changed };
	}
	const keys = [...new Set([...Object.keys(before), ...Object.keys(after)])].filter(
		(key) => !isSameJson(memberNamed(before, key), memberNamed(after, key)),
	);
	return {
		previous: {...previous, custom_fields: Object.fromEntries(keys.map((key) => [key, memberNamed(before, key) ?? null])) },
		changed: changed.flatMap((field) =>
			field === 'custom_fields' ? keys.map((key) => `custom_fields.${key}`) : [field],
		),
	};
}

const isSameJson = (a: unknown, b: unknown): boolean => JSON.stringify(a) === JSON.stringify(b);
