import type { IDataObject } from 'n8n-workflow';

import { mergePatch } from '../api/record';
import { withoutMembers } from '../base/ownMembers';
import type { DifferingValue } from '../fields/recordComparison';
import type { IdentifiedRecord } from '../lookUp/recordList';

/** A value of a record that changes, or stays although another one is wanted. */
export interface FieldChange extends DifferingValue {
	/** What people call the field, and the names of linked records. */
	label?: string;
	from_name?: unknown;
	to_name?: unknown;
	/** Whether the CRM's value stays. */
	kept?: true;
}

/** The decision about one record. */
export interface RecordChange {
	action: 'create' | 'update' | 'unchanged' | 'delete' | 'conflict';
	/** Index of the input item that asks for it; undefined if it follows from what the items do not have. */
	item?: number;
	record?: IdentifiedRecord;
	/** The wanted values, if the CRM has no record. */
	values?: IDataObject;
	/** The id that the record of a creation once had: if it exists after all, none is created. */
	formerId?: string;
	/** The body that creates or updates the record. */
	patch?: IDataObject;
	/** What its key names, the event of a deletion that it undoes or `mergeSubject`; then it is sent alone. */
	keySubject?: string;
	/** Whether it is a deletion that leaves nothing to restore; then it is sent alone, too. */
	isPermanent?: true;
	changes: FieldChange[];
	/** Why the action differs from what the values alone would suggest. */
	reason?: string;
}

/** The decision to leave a record alone and report it. */
export const asConflict = (planned: RecordChange, reason: string): RecordChange =>
	({ ...withoutMembers(planned, 'patch'), action: 'conflict', reason });

/** A planned change or its result, or what a write would do: any other action than the usual ones has the name of its operation. */
export interface ReportedChange extends Omit<RecordChange, 'action' | 'record'> {
	action: string;
	record?: IDataObject;
}

/**
 * What an output says about a change: the record, and what was done. In `changes`, `from` is the CRM's value, `to` the wanted
 * one, and `kept` a change that was not made; `reason` names the rule, limit or version that decided.
 *
 * @param names the fields of a record to output
 * @param member the name of the member that says what was done
 */
export function reportedRecord(
	{ action, record, values, patch, changes, reason }: ReportedChange, names: ReadonlySet<string>, member: string,
): IDataObject {
	const afterwards: IDataObject = (record && patch ? mergePatch(record, patch) : record) ?? values ?? {};
	const shown = Object.fromEntries(Object.entries(afterwards).filter(([name]) => names.has(name)));
	return { ...shown, [member]: { action, changes: changes as unknown as IDataObject[], reason: reason ?? null } };
}
