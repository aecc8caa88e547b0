import { foldCase } from '../core/store/records/fold-case.ts';
import type { Country } from './countries.ts';
import type { Random } from './random.ts';

/** Replaces hashes by digits. */
export const fillDigits = (pattern: string, random: Random): string =>
	pattern.replaceAll('#', () => String(random.below(10)));

type Place = Pick<Country, 'cities' | 'street' | 'postalCode' | 'code'>;

export function addressIn(country: Place, random: Random) {
	const [city, state] = random.pick(country.cities);
	return {
		street: country.street.replace('#', String(1 + random.below(180))),
		city,
		state,
		postal_code: fillDigits(country.postalCode, random),
		country: country.code,
	};
}

/** Converts text to a part of an email address or domain: lower-case ASCII letters, digits and hyphens. */
export const slug = (text: string): string =>
	foldCase(text).replaceAll('ß', 'ss').replace(/[^a-z0-9]+/g, '-').replace(/^-|-$/g, '');

/** Makes texts distinct by numbering the second and later ones. */
export function distinct() {
	const seen = new Map<string, number>();
	return (text: string, numbered: (count: number) => string): string => {
		const count = (seen.get(text) ?? 0) + 1;
		seen.set(text, count);
		return count === 1 ? text : numbered(count);
	};
}
