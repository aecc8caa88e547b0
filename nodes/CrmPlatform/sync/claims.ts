import { getOrCreate } from '../base/maps';
import { idField } from '../fields/field';
import { matchKey } from '../fields/keys';
import { asConflict, type PlannedChange } from '../changes/plan';
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
