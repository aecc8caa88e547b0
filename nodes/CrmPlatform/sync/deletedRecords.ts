import { isBlank } from '../values/blank';
import { isNo } from '../values/readers';
import type { CrmRecord } from './crmIndex';

/** Members with a time, or true, in a deleted record that is still listed. */
const marks = [
	'deleted_at', 'archived_at', 'deactivated_at', 'deleted', 'archived', 'deactivated',
	'is_deleted', 'is_archived', 'is_deactivated', 'trashed', 'is_trashed',
];
/** Members that state the status of a record in one word. */
const states = ['status', 'state'];

/** The members that mark a deleted record that is still listed. */
export const goneFields = [...marks, ...states];

/** Whether the CRM has deleted, archived or deactivated a record already: deleting it again would change nothing. */
export const isGone = (record: CrmRecord): boolean =>
	marks.some((name) => !isBlank(record[name]) && !isNo(record[name])) ||
	states.some((name) => /^(deleted|archived|deactivated|trashed|removed)$/i.test(String(record[name])));
