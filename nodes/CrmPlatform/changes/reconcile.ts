import type { IDataObject } from 'n8n-workflow';

import { memberAtPath } from '../base/ownMembers';
import type { Difference, RecordComparison } from '../fields/recordComparison';
import type { FieldChange } from './recordChange';

/** Whose value a field gets. */
export type Side = 'target' | 'current';

/** The differences between a record and the wanted values, of which some may be kept. */
export interface Reconciled extends Difference {
	changes: FieldChange[];
	/** Whether the winner has decided about a value. */
	isRuled: boolean;
}

/**
 * Reconciles two sides field by field, by the values that both sides had last: a value that one side has changed is taken from it.
 *
 * @param winner whose values that both have changed are taken, and those of which it is unknown what both had last
 * @returns undefined for a conflict: there are such values, and no winner
 */
export function reconcile(
	compare: RecordComparison,
	{ agreed, target, current }: { agreed: IDataObject | undefined; target: IDataObject; current: IDataObject },
	winner: Side | undefined,
): Reconciled | undefined {
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
	const reconciled = changes.map((change, i): FieldChange => {
		const side = changedBy[i] === 'both' ? winner : changedBy[i];
		return side === 'current' ? { ...change, kept: true } : change;
	});
	const keptFields = new Set(reconciled.filter((change) => change.kept).map(({ field }) => field));
	return { changes: reconciled, patch: compare.difference(current, target, (field) => !keptFields.has(field)).patch, isRuled };
}

/** The value of a field that both had last: null if it was empty, undefined if it is unknown. */
function agreedValue(agreed: IDataObject | undefined, field: string): unknown {
	if (!agreed || Object.hasOwn(agreed, field)) return agreed?.[field];
	return field.split('.').reduce<unknown>((value, key) => (value === null ? null : memberAtPath(value, [key])), agreed);
}
