import { limitInferred, type PlannedChange } from '../changes/plan';

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
	/** Number of records in scope that a source can contain: they have a key, and are not deleted already. */
	comparable: number;
	/** Number of readable records of the source. */
	inSource: number;
	/** Number of items whose record is unknown: they have no key, or an unreadable value. */
	unknown: number;
}

/** Refuses to delete or set more records than the user allows, or any if the source may be incomplete: a broken export must not empty the CRM. */
export const guardDeletions = (planned: PlannedChange[], limits: DeletionLimits, readings: Readings) =>
	limitInferred(planned, (count) => refusal(count, limits, readings));

function refusal(
	count: number,
	{ share, number }: DeletionLimits,
	{ comparable, inSource, unknown }: Readings,
): string | undefined {
	const missing = `${count} of ${comparable} records in scope that have a key are missing from the source. None of them was changed`;
	if (unknown > 0) {
		return `${missing}, because ${unknown} items have no key or could not be read, and might match these records.`;
	}
	if (inSource === 0) return `${missing}, because the source is empty.`;
	// The condition is written so that a limit of NaN refuses.
	if (!(count <= number)) return `${missing}, because Maximum Deletions allows ${number}. If the source is complete, increase this limit.`;
	const isFew = count <= fewRecords && count * 2 <= comparable && share > 0;
	if (!isFew && !(count * 100 <= share * comparable)) {
		return `${missing}, because Maximum Deletions (%) allows ${share} % of them. If the source is complete, increase this limit.`;
	}
	return undefined;
}
