import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../base/json';
import { ownMember, setMember } from '../base/ownMembers';
import { valueShape } from '../fields/fieldKinds';
import type { ComparedField } from '../fields/keys';
import { coversValue } from '../fields/same';

/** One value that differs between what is wanted and what the CRM has. */
export interface FieldChange {
	/** The name of the field, dotted if it is part of an object: `address.city`. */
	field: string;
	/** The value in the CRM; null if it has none. */
	from: unknown;
	/** The wanted value. */
	to: unknown;
	/** What people call the field, and the names of linked records. */
	label?: string;
	from_name?: unknown;
	to_name?: unknown;
	/** Whether the CRM's value stays. */
	kept?: true;
}

/** The difference between a record and the wanted values. */
interface Difference {
	changes: FieldChange[];
	/** A merge patch (RFC 7396) with the values that differ, and no others. */
	patch: IDataObject;
}

/**
 * Compares records as the service stores them: texts that it stores in lower case are equal in any case, and
 * two notations of one instant are equal. Only values that are wanted count, also within objects and the
 * objects of a list. A missing value, null, an empty text and an empty list are equal. Fields are named as in `FieldChange`.
 */
export class RecordComparison {
	private readonly fields: ReadonlyMap<string, ComparedField>;
	private readonly areWhole: boolean;

	/**
	 * @param fields the fields that records are written with
	 * @param areWhole whether a wanted value is to be all that its field has: JSON is one value then, and what only the stored
	 * list or JSON has counts, too
	 */
	constructor(fields: ComparedField[], areWhole = false) {
		this.fields = new Map(fields.map((field) => [field.path.join('.'), field]));
		this.areWhole = areWhole;
	}

	/** @param isChosen whether a field counts @param prefix what the names of the values begin with */
	difference(stored: unknown, target: IDataObject, isChosen: (field: string) => boolean = () => true, prefix = ''): Difference {
		const changes: FieldChange[] = [];
		const patch: IDataObject = {};
		for (const [key, value] of Object.entries(target)) {
			if (value === undefined) continue;
			const name = prefix + key;
			const described = this.fields.get(name);
			const current = isObject(stored) ? ownMember(stored, key) : undefined;
			const isOneValue = this.areWhole && described !== undefined && valueShape(described) === 'object';
			if (isObject(value) && !isOneValue) {
				const inner = this.difference(current, value, isChosen, `${name}.`);
				if (inner.changes.length > 0) setMember(patch, key, inner.patch);
				changes.push(...inner.changes);
			} else if (isChosen(name) && !(this.areWhole ? this.isSame(name, current, value) : this.covers(name, current, value))) {
				changes.push({ field: name, from: current ?? null, to: value });
				setMember(patch, key, value);
			}
		}
		return { changes, patch };
	}

	/** Whether the value of a field has all that is wanted. */
	covers(name: string, stored: unknown, target: unknown): boolean {
		const field = this.fieldAround(name);
		return coversValue(field, stored, target, name.slice((field?.path.join('.') ?? name).length + 1));
	}

	/** Whether two values of a field have all of each other. */
	isSame(name: string, a: unknown, b: unknown): boolean {
		return this.covers(name, a, b) && this.covers(name, b, a);
	}

	/** The field of this name, or the one that it is part of. */
	private fieldAround(name: string): ComparedField | undefined {
		return this.fields.get(name) ?? (name.includes('.') ? this.fieldAround(name.slice(0, name.lastIndexOf('.'))) : undefined);
	}
}

/** Whose value a field gets. */
export type Side = 'target' | 'current';

/** The differences between a record and the wanted values, of which some may be kept. */
export interface Merge extends Difference {
	/** Whether the winner has decided about a value. */
	isRuled: boolean;
}

/**
 * Merges field by field by the values that both sides had last: a value that one side has changed is taken from it.
 *
 * @param winner whose values that both have changed are taken, and those of which it is unknown what both had last
 * @returns undefined for a conflict: there are such values, and no winner
 */
export function merge(
	compare: RecordComparison,
	{ agreed, target, current }: { agreed: IDataObject | undefined; target: IDataObject; current: IDataObject },
	winner: Side | undefined,
): Merge | undefined {
	const { changes } = compare.difference(current, target);
	const changedBy = changes.map(({ field, from, to }): Side | 'both' => {
		const last = agreedValue(agreed, field);
		if (last === undefined) return 'both';
		if (compare.covers(field, last, to)) return 'current';
		// A list is written as a whole: what the CRM has added within it counts, too.
		return compare.isSame(field, from, last) ? 'target' : 'both';
	});
	const isRuled = changedBy.includes('both');
	if (isRuled && winner === undefined) return undefined;
	const merged = changes.map((change, i): FieldChange => {
		const side = changedBy[i] === 'both' ? winner : changedBy[i];
		return side === 'current' ? { ...change, kept: true } : change;
	});
	const keptFields = new Set(merged.filter((change) => change.kept).map(({ field }) => field));
	return { changes: merged, patch: compare.difference(current, target, (field) => !keptFields.has(field)).patch, isRuled };
}

/** The value of a field that both had last: null if it was empty, undefined if it is unknown. */
function agreedValue(agreed: IDataObject | undefined, field: string): unknown {
	if (!agreed) return undefined;
	if (Object.hasOwn(agreed, field)) return agreed[field];
	let value: unknown = agreed;
	for (const key of field.split('.')) {
		if (value === null) return null;
		if (!isObject(value) || !Object.hasOwn(value, key)) return undefined;
		value = value[key];
	}
	return value;
}
