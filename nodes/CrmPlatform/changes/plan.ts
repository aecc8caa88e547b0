import type { IDataObject } from 'n8n-workflow';

import { withoutMembers } from '../base/ownMembers';
import type { IdentifiedRecord } from '../lookUp/lookUp';
import type { Change } from './merge';

/** The decision about one record. */
export interface PlannedChange {
	action: 'create' | 'update' | 'unchanged' | 'delete' | 'conflict';
	/** Index of the input item that asks for it; undefined if it follows from what the items do not have. */
	item?: number;
	/** The CRM's record, if there is one. */
	record?: IdentifiedRecord;
	/** The wanted values, if the CRM has no record. */
	values?: IDataObject;
	/** The id that the record of a creation once had: if it exists after all, none is created. */
	formerId?: string;
	/** The body that creates or updates the record. */
	patch?: IDataObject;
	changes: Change[];
	/** Why the action differs from what the values alone would suggest. */
	reason?: string;
}

/** The decision to leave a record alone and report it. */
export function asConflict(planned: PlannedChange, reason: string): PlannedChange {
	return { ...withoutMembers(planned, 'patch'), action: 'conflict', reason };
}

/** Whether no item asks for a change: it follows from what the items do not have. */
export const isInferred = ({ item }: PlannedChange): boolean => item === undefined;

/**
 * Refuses all inferred changes if there are too many: they are made together or not at all.
 *
 * @param refusalOf why that many changes are refused, if they are
 * @returns the plan, and the reason if the changes were refused
 */
export function limitInferred(
	planned: PlannedChange[],
	refusalOf: (count: number) => string | undefined,
): { planned: PlannedChange[]; reason?: string } {
	const isLimited = (change: PlannedChange) => isInferred(change) && (change.action === 'delete' || change.action === 'update');
	const count = planned.filter(isLimited).length;
	const reason = count === 0 ? undefined : refusalOf(count);
	if (reason === undefined) return { planned };
	return { planned: planned.map((change) => (isLimited(change) ? asConflict(change, reason) : change)), reason };
}
