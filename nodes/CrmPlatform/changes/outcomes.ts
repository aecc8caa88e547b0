import type { IDataObject } from 'n8n-workflow';

import { mergePatch } from '../api/record';
import type { PlannedChange } from './plan';

interface ReportedChange extends Omit<PlannedChange, 'action' | 'record'> {
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
