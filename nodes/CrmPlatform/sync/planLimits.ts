import { asConflict, isInferred, type RecordChange } from '../changes/plan';
import type { DeletionLimits } from './settings';

/** A share of a small list may be less than one record: this many may be deleted as long as at least as many remain. */
const fewRecords = 3;

/** The numbers of records that were read to find those that the source does not have. */
export interface RecordCounts {
	/** Number of records in scope that a source can contain. */
	comparable: number;
	/** Number of readable records of the source. */
	inSource: number;
	/** Number of items whose record is unknown: they have no key, or an unreadable value. */
	unreadable: number;
}

/**
 * Refuses to delete or set more records than the user allows, or any if the source may be incomplete: a broken export must
 * not empty the CRM. These changes are made together or not at all.
 *
 * @param notices gets the reason
 */
export function guardDeletions(
	planned: RecordChange[], limits: DeletionLimits, counts: RecordCounts, notices: Set<string>,
): RecordChange[] {
	const isLimited = (change: RecordChange) => isInferred(change) && (change.action === 'delete' || change.action === 'update');
	const count = planned.filter(isLimited).length;
	const cause = whyNoneDeleted(count, limits, counts);
	if (cause === undefined) return planned;
	const missing = `${count} of ${counts.comparable} records in scope that have a key are missing from the source.`;
	const reason = `${missing} None of them was changed, because ${cause}`;
	notices.add(reason);
	return planned.map((change) => (isLimited(change) ? asConflict(change, reason) : change));
}

/** The conditions are written so that a limit of NaN refuses. */
function whyNoneDeleted(count: number, { share, number }: DeletionLimits, { comparable, inSource, unreadable }: RecordCounts): string | undefined {
	if (count === 0) return undefined;
	if (unreadable > 0) return `${unreadable} items have no key or could not be read, and might match these records.`;
	if (inSource === 0) return 'the source is empty.';
	if (!(count <= number)) return `Maximum Deletions allows ${number}. ${largerLimit}`;
	const isFew = count <= fewRecords && count * 2 <= comparable && share > 0;
	return isFew || count * 100 <= share * comparable ? undefined : `Maximum Deletions (%) allows ${share} % of them. ${largerLimit}`;
}

const largerLimit = 'If the source never has some of these records, choose those that it has under Records in Scope. '
	+ 'If all of them are to go, increase this limit.';
