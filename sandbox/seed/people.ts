import { foldCase } from '../core/store/records/columns.ts';
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

/** First part of a company's name. */
export const companyNames = `
	Altamira Nordwind Bluepeak Ferrovia Lumina Kestrel Solara Terranova Brightwater Vantage
	Corvid Meridian Halcyon Ostara Pinnacle Riverbend Silverline Tamarind Umbra Verdant
	Westgate Zephyr Arbor Beacon Cobalt Delphi Ember Fjord Granite Harbor Indigo Juniper
	Kodama Larkspur Monarch Nimbus Orchard Polaris Quarry Redwood Sequoia Tundra Upland Violet
	Willow Yarrow Amberly Boreal Cascade Drift
`;

/** Second part of a company's name, with its industry. */
export const trades = `
	Logistics:logistics Freight:logistics Software:software Systems:software Foods:food Bakery:food Energy:energy
	Solar:energy Clinics:health Pharma:health Capital:finance Insurance:finance Hotels:hospitality
	Construction:construction Tools:manufacturing Machines:manufacturing Media:media Academy:education
	Farms:agriculture Outfitters:retail Furniture:retail Telecom:telecommunications
	Consulting:professional_services Legal:professional_services
`.trim().split(/\s+/).map((trade) => trade.split(':') as [string, string]);

export const jobTitles = [
	'Managing Director', 'Head of Purchasing', 'Operations Manager', 'IT Manager', 'Sales Representative', 'Office Manager',
	'Finance Director', 'Marketing Manager', 'Customer Success Lead', 'Software Engineer', 'Warehouse Supervisor',
	'HR Business Partner', 'Product Manager', 'Executive Assistant',
] as const;

export const leadSources = ['website', 'referral', 'event', 'advertising', 'partner', 'import'] as const;

/** Repeated in proportion to their frequency. */
export const stages = [
	'lead', 'lead', 'lead', 'marketing_qualified', 'sales_qualified', 'opportunity', 'customer', 'customer', 'customer',
	'former_customer',
] as const;
