import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../api/http/json';
import { ownMember } from '../api/http/ownMembers';
import { matchKey, valueIn, type ComparedField } from '../mapping/keys';
import type { CrmRecord, SourceRecord } from './matching';

/** A field of which no two records may have the same value. */
export type UniqueField = ComparedField & { label: string };

/**
 * The unique value that a record gets. Of a list such as `emails`, services keep the main value in a field
 * of its own, `email`.
 */
export function uniqueValueIn(values: IDataObject, field: UniqueField): unknown {
	const own = valueIn(values, field);
	if (own !== undefined) return own;
	const all = othersIn(values, field);
	return valueOf(all.find((one) => isObject(one) && one.primary === true) ?? all[0]);
}

/** The list that a unique field has the main value of. */
export const listNameOf = ({ name }: Pick<UniqueField, 'name'>): string => `${name}s`;

/** What a value of the source says of a record that no key has found. */
export interface Pointer {
	/** The items that have it, the first at the start. */
	items: number[];
	label: string;
}

/**
 * The records that a unique value of the source points to, whichever of its items has it, and whatever
 * becomes of that item: they are not missing in the source.
 *
 * @returns the first such value of each record, by the record's id
 */
export function recordsPointedAt(
	records: readonly CrmRecord[],
	source: readonly SourceRecord[],
	unique: readonly UniqueField[],
): Map<string, Pointer> {
	const found = new Map<string, Pointer>();
	const ids = new Map<string, string[]>();
	const nameOf = (field: UniqueField, value: unknown) => {
		const key = matchKey(field, value);
		// Whether the service tells capitals apart is not always said.
		return key === undefined ? undefined : JSON.stringify([field.name, key.toLowerCase()]);
	};
	for (const record of records) {
		for (const field of unique) {
			for (const value of valuesIn(record, field)) {
				const name = nameOf(field, value);
				if (name === undefined) continue;
				const same = ids.get(name);
				if (same) same.push(record.id);
				else ids.set(name, [record.id]);
			}
		}
	}
	if (ids.size === 0) return found;
	for (const { item, values, id } of source) {
		for (const field of unique) {
			const given = field.name === 'id' ? [id] : valuesIn(values, field);
			for (const value of given) {
				for (const record of ids.get(nameOf(field, value) ?? '') ?? []) {
					const known = found.get(record);
					if (!known) found.set(record, { items: [item], label: field.label });
					else if (known.items.at(-1) !== item) known.items.push(item);
				}
			}
		}
	}
	return found;
}

/** The values of a unique field: its own, and those of its list. */
function valuesIn(values: IDataObject, field: UniqueField): unknown[] {
	return [valueIn(values, field), ...othersIn(values, field).map(valueOf)];
}

/** Entries of a list are texts, or objects with a value. */
const valueOf = (entry: unknown): unknown => (isObject(entry) ? entry.value : entry);

function othersIn(values: IDataObject, field: UniqueField): unknown[] {
	const list = ownMember(values, listNameOf(field));
	return Array.isArray(list) ? (list as unknown[]) : [];
}
