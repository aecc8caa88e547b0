import type { IDataObject } from 'n8n-workflow';

import type { TimeSpan } from '../values/dates';
import type { Change, RecordComparison } from './compare';
import type { CrmRecord } from './crmIndex';
import type { UniqueField } from './presence';

/** The user's choices. */
export interface SyncRules {
	/** What to do with records of the source that the CRM does not have. */
	missingInCrm: 'create' | 'leave';
	/** What to do with records whose values differ. */
	differing: 'update' | 'leave';
	/** What to do with records in scope that the source does not have. */
	missingInSource: 'leave' | 'delete' | 'set';
	/** The values to set in records that the source does not have. */
	missingValues?: IDataObject;
	/** What to do with records that the CRM has changed since the other system saw them. */
	bothChanged: 'conflict' | 'source' | 'crm' | 'latest';
	/** Whether the items carry the version that the other system saw last. */
	checksVersions: boolean;
}

export type SyncAction = 'create' | 'update' | 'unchanged' | 'delete' | 'conflict';

/** The decision about one record. */
export interface PlannedChange {
	action: SyncAction;
	/** Index of the source's item; undefined for records that the source does not have. */
	item?: number;
	/** The CRM's record, if there is one. */
	record?: CrmRecord;
	/** The source's values, if the CRM has no record. */
	values?: IDataObject;
	/** The id that the source has stored for a record that is to be created. */
	seenId?: string;
	/** The body that creates or updates the record. */
	patch?: IDataObject;
	changes: Change[];
	/** Why the action differs from what the values alone would suggest. */
	reason?: string;
}

export interface Context {
	rules: SyncRules;
	/** The label of the field of each key. */
	matchLabels: readonly string[];
	/** The fields of which no two records may have the same value. */
	unique: readonly UniqueField[];
	compare: RecordComparison;
	/** The version and the time of the last change of a record. */
	versionOf(record: CrmRecord): string | undefined;
	changedAtOf(record: CrmRecord): TimeSpan | undefined;
	/** The keys of a record, for each field to match on. */
	keysOf(record: CrmRecord): Array<string | undefined>;
	/** Why a record is outside the scope although the service returned it. */
	outside(record: CrmRecord): string | undefined;
}

/** The decision to leave a record alone and report it. */
export function asConflict(planned: PlannedChange, reason: string): PlannedChange {
	const { patch: _, ...rest } = planned;
	return { ...rest, action: 'conflict', reason };
}

/** Whether the source does not have the record. */
export const isMissingInSource = ({ item }: PlannedChange): boolean => item === undefined;
