import { looseText } from '../fields/keys';
import { isMissingInSource, asConflict, type PlannedChange } from './plannedChange';

/** The maximum of records that one run may delete or set as missing. */
export interface DeletionLimits {
	/** Maximum percentage of the records in scope. */
	share: number;
	/** Maximum number of records. */
	number: number;
}

/** A share of a small list may be less than one record: this many may be deleted as long as at least as many remain. */
const fewRecords = 3;

/** The numbers of records that were read to find those that the source does not have. */
export interface Readings {
	/** Number of records in scope that were read. */
	inScope: number;
	/** Number of these records that a source can contain: they have a key, and are not deleted already. */
	comparable: number;
	/** Number of records in scope according to the service; undefined if it does not count them. */
	counted?: number | undefined;
	/** Number of readable records of the source. */
	inSource: number;
	/** Number of items whose record is unknown: they have no key, or an unreadable value. */
	unknown: number;
}

/**
 * Refuses all changes of records that the source does not have, if there are more of them than the
 * user allows or if the source may be incomplete: a broken export must not empty the CRM.
 *
 * @returns the plan, and the reason if the changes were refused
 */
export function guardDeletions(
	planned: PlannedChange[],
	limits: DeletionLimits,
	readings: Readings,
): { planned: PlannedChange[]; reason?: string } {
	const isGuarded = (change: PlannedChange) =>
		isMissingInSource(change) && (change.action === 'delete' || change.action === 'update');
	// Values that the service has stored in a different format were set by an earlier run.
	const isNew = ({ changes }: PlannedChange) =>
		changes.length === 0 || changes.some(({ from, to }) => looseText(from) !== looseText(to));
	const count = planned.filter((change) => isGuarded(change) && isNew(change)).length;
	if (count === 0) return { planned };
	const reason = refusal(count, limits, readings);
	if (reason === undefined) return { planned };
	return { planned: planned.map((change) => (isGuarded(change) ? asConflict(change, reason) : change)), reason };
}

function refusal(
	count: number,
	{ share, number }: DeletionLimits,
	{ inScope, comparable, counted = inScope, inSource, unknown }: Readings,
): string | undefined {
	const missing = `${count} of ${comparable} records in scope that have a key are missing from the source. None of them was changed`;
	if (unknown > 0) {
		return `${missing}, because ${unknown} items have no key or could not be read, and might match these records.`;
	}
	if (inSource === 0) return `${missing}, because the source is empty.`;
	if (counted > inScope) {
		return `${missing}, because the CRM returned only ${inScope} of the ${counted} records it reports.`;
	}
	// The condition is written so that a limit of NaN refuses.
	if (!(count <= number)) return `${missing}, because Maximum Deletions allows ${number}. If the source is complete, increase this limit.`;
	const isFew = count <= fewRecords && count * 2 <= comparable && share > 0;
	if (!isFew && !(count * 100 <= share * comparable)) {
		return `${missing}, because Maximum Deletions (%) allows ${share} % of them. If the source is complete, increase this limit.`;
	}
	return undefined;
}
