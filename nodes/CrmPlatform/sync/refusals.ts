import { getOrCreate } from '../base/maps';
import { idField } from '../fields/field';
import { matchKey } from '../fields/keys';
import { asConflict, isInferred, type PlannedChange } from '../changes/plan';
import { uniqueValueIn, type UniqueField } from './matching';

/** A unique value that is about to be written. */
export interface Claim {
	place: number;
	field: UniqueField;
	key: string;
	value: unknown;
}

/** The records that have unique values, in scope and outside. */
interface Holders {
	/** Ids of the records with that value. */
	of(field: UniqueField, key: string): readonly string[];
}

/** The unique values that the plan writes. */
export function claimsOf(planned: PlannedChange[], unique: UniqueField[]): Claim[] {
	return planned.flatMap(({ action, patch, formerId }, place) => {
		if (patch === undefined || (action !== 'create' && action !== 'update')) return [];
		const claims = unique.flatMap((field): Claim[] => {
			const value = uniqueValueIn(patch, field);
			const key = matchKey(field, value);
			return key === undefined ? [] : [{ place, field, key, value }];
		});
		// A record that has only left the scope must not be created a second time.
		if (formerId !== undefined) claims.push({ place, field: idField, key: formerId, value: formerId });
		return claims;
	});
}

/**
 * Refuses the changes that would give a record a unique value which another record has, or gets in
 * the same run: the service would refuse them, and a preview has to show it.
 */
export function refuseDuplicates(planned: PlannedChange[], claims: Claim[], holders: Holders): PlannedChange[] {
	const places = new Map<string, number[]>();
	const nameOf = ({ field, key }: Claim) => JSON.stringify([field.name, key]);
	for (const claim of claims) getOrCreate(places, nameOf(claim), () => []).push(claim.place);
	// One message for all claims of a value: 100,000 items may have the same.
	const messages = new Map<string, string>();
	const result = [...planned];
	for (const claim of claims) {
		const { place, field, key } = claim;
		const ownId = planned[place]?.record?.id;
		const holder = holders.of(field, key).find((id) => id !== ownId);
		const name = nameOf(claim);
		const rivals = places.get(name) ?? [];
		if (holder !== undefined) result[place] = asConflict(planned[place]!, takenMessage(field, key, holder));
		else if (rivals.length > 1) {
			const contestants = () => rivals.slice(0, 10).flatMap((rival) => planned[rival]?.item ?? []);
			const message = getOrCreate(messages, name, () => contestedMessage(field, key, contestants()));
			result[place] = asConflict(planned[place]!, message);
		}
	}
	return result;
}

const takenMessage = ({ name, label }: UniqueField, key: string, id: string) =>
	name === 'id'
		? `Record ${id} exists, but is outside Records in Scope.`
		: `${label}: record ${id} already has the value “${key.slice(0, 100)}”. It may be outside Records in Scope.`;

const contestedMessage = ({ label }: UniqueField, key: string, items: number[]) =>
	`${label}: items ${items.join(', ')} would all get the value “${key.slice(0, 100)}”, which must be unique.`;

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

/**
 * Refuses to delete or set more records than the user allows, or any if the source may be incomplete: a broken export must
 * not empty the CRM. These changes are made together or not at all.
 *
 * @returns the plan, and the reason if the changes were refused
 */
export function guardDeletions(planned: PlannedChange[], limits: DeletionLimits, readings: Readings): { planned: PlannedChange[]; reason?: string } {
	const isLimited = (change: PlannedChange) => isInferred(change) && (change.action === 'delete' || change.action === 'update');
	const count = planned.filter(isLimited).length;
	const reason = count === 0 ? undefined : refusal(count, limits, readings);
	if (reason === undefined) return { planned };
	return { planned: planned.map((change) => (isLimited(change) ? asConflict(change, reason) : change)), reason };
}

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
