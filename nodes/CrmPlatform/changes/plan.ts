import type { IDataObject } from 'n8n-workflow';

import { mergePatch } from '../api/record';
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
	/** What its key names, the event of a deletion that it undoes or `deletionByMerge`; then it is sent alone. */
	deletion?: string;
	changes: Change[];
	/** Why the action differs from what the values alone would suggest. */
	reason?: string;
}

/** The decision to leave a record alone and report it. */
export function asConflict(planned: PlannedChange, reason: string): PlannedChange {
	return { ...withoutMembers(planned, 'patch'), action: 'conflict', reason };
}

/**
 * Reports a plan that changes more records than the user allows.
 *
 * @param effect what happens to the records, such as `change`
 * @param purpose what the plan is for, such as `undo them`
 * @throws Error in the user's words, except in a preview
 */
export function checkMaximum(
	count: number,
	{ maximum, label, effect, purpose, isPreview }: { maximum: number; label: string; effect: string; purpose: string; isPreview: boolean },
	notices: Set<string>,
): void {
	if (count <= maximum) return;
	const message = `${count} records would ${effect}, and ${label} allows ${maximum}. To ${purpose}, set ${label} to ${count}.`;
	if (!isPreview) throw new Error(`${message} Nothing was written.`);
	notices.add(message);
}

/** Whether no item asks for a change: it follows from what the items do not have. */
export const isInferred = ({ item }: PlannedChange): boolean => item === undefined;

/** A planned change or its outcome, or what a write would do: any other action than the usual ones has the name of its operation. */
export interface ReportedChange extends Omit<PlannedChange, 'action' | 'record'> {
	action: string;
	record?: IDataObject;
}

/**
 * What an output says about a change: the record, and what was done. In `changes`, `from` is the CRM's value, `to` the wanted
 * one, and `kept` a change that was not made; `reason` names the rule, limit or version that decided.
 *
 * @param names the fields of a record to output
 * @param report the name of the member that says what was done
 */
export function reportedRecord({ action, record, values, patch, changes, reason }: ReportedChange, names: ReadonlySet<string>, report: string): IDataObject {
	const outcome: IDataObject = (record && patch ? mergePatch(record, patch) : record) ?? values ?? {};
	const shown = Object.fromEntries(Object.entries(outcome).filter(([name]) => names.has(name)));
	return { ...shown, [report]: { action, changes: changes as unknown as IDataObject[], reason: reason ?? null } };
}

/** Tells the user which events the writes of a plan cause. @param ignored the choice by which triggers ignore these events */
export function noteEvents(notices: Set<string>, subject: string, events: string[], ignored: string): void {
	if (events.length === 0) return;
	notices.add(`${subject} ${events.join(', ')}. Workflows that listen to these events start, unless their triggers ignore changes made by ${ignored}.`);
}
