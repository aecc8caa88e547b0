import { matchKey, valueIn, type ComparedField } from './compare';
import { asConflict, type PlannedChange } from './plan';

/** A field of which no two records may have the same value. */
export type UniqueField = ComparedField & { label: string };

/** A unique value that is about to be written. */
interface Claim {
	place: number;
	field: UniqueField;
	key: string;
	value: unknown;
}

/** The records that have unique values, in scope and outside. */
export interface Holders {
	/** Ids of the records with that value. */
	of(field: UniqueField, key: string): readonly string[];
}

/** The unique values that the plan writes. */
export function claimsOf(planned: PlannedChange[], unique: UniqueField[]): Claim[] {
	return planned.flatMap(({ action, patch }, place) => {
		if (patch === undefined || (action !== 'create' && action !== 'update')) return [];
		return unique.flatMap((field): Claim[] => {
			const value = valueIn(patch, field);
			const key = matchKey(field, value);
			return key === undefined ? [] : [{ place, field, key, value }];
		});
	});
}

/**
 * Refuses the changes that would give a record a unique value which another record has, or gets in
 * the same run: the service would refuse them, and a preview has to show it.
 */
export function refuseDuplicates(
	planned: PlannedChange[],
	claims: Claim[],
	holders: Holders,
): PlannedChange[] {
	const places = new Map<string, number[]>();
	const nameOf = ({ field, key }: Claim) => JSON.stringify([field.name, key]);
	for (const claim of claims) {
		const name = nameOf(claim);
		places.set(name, [...(places.get(name) ?? []), claim.place]);
	}
	const result = [...planned];
	for (const claim of claims) {
		const { place, field, key } = claim;
		const own = planned[place]?.record?.id;
		const holder = holders.of(field, key).find((id) => id !== own);
		const rivals = places.get(nameOf(claim)) ?? [];
		if (holder !== undefined) result[place] = asConflict(planned[place]!, held(field, key, holder));
		else if (rivals.length > 1) {
			const items = rivals.map((rival) => planned[rival]?.item).filter((item) => item !== undefined);
			result[place] = asConflict(planned[place]!, contested(field, key, items));
		}
	}
	return result;
}

const held = ({ label }: UniqueField, key: string, id: string) =>
	`${label}: record ${id} has the value ‘${key.slice(0, 100)}’ already. It may be outside Records in Scope.`;

const contested = ({ label }: UniqueField, key: string, items: number[]) =>
	`${label}: items ${items.slice(0, 10).join(', ')} would all get the value ‘${key.slice(0, 100)}’, which has to be unique.`;

