import { slug } from './people.ts';
import type { Random } from './random.ts';

export const options = (...labels: string[]) =>
	labels.map((label) => ({ value: label.toLowerCase().replaceAll(' ', '_'), label }));

export const customFieldOf = (resource: string, type: string, label: string, description: string, more = {}) => ({
	resource,
	key: slug(label).replaceAll('-', '_'),
	label,
	type,
	options: [],
	description,
	required: false,
	unique: false,
	read_only: false,
	...more,
});

/** The custom fields of the account. */
export const customFieldSeeds = [
	customFieldOf('contacts', 'select', 'Contract Tier', 'Level of the service contract.', {
		options: options('Bronze', 'Silver', 'Gold'),
	}),
	customFieldOf('contacts', 'date', 'Renewal Date', 'Date the contract is renewed.'),
	customFieldOf('contacts', 'number', 'NPS Score', 'Latest answer to the customer survey, 0 to 10.'),
	customFieldOf('contacts', 'boolean', 'VIP', 'Whether the person gets special attention.'),
	customFieldOf('contacts', 'text', 'Customer Number', 'Number of the person in the shop.', { unique: true }),
	customFieldOf('contacts', 'multi_select', 'Interests', 'What the person wants to hear about.', {
		options: options('Product News', 'Events', 'Training'),
	}),
	customFieldOf('companies', 'text', 'Industry Code', 'Code of the industry in the ERP system.'),
	customFieldOf('companies', 'select', 'Support Plan', 'Support the company has booked.', {
		options: options('Basic', 'Business', 'Premium'),
	}),
	customFieldOf('companies', 'date', 'Partner Since', 'Date the company became a partner.'),
];

export const customFieldSeed = (i: number) => ({ ...customFieldSeeds[i], position: i });

const date = (random: Random, firstYear: number) =>
	`${firstYear + random.below(3)}-${two(1 + random.below(12))}-${two(1 + random.below(28))}`;

const two = (value: number) => String(value).padStart(2, '0');

export function contactValues(random: Random, number: number): Record<string, unknown> {
	return {
		...(random.chance(0.6) && { contract_tier: random.pick(['bronze', 'silver', 'gold']) }),
		...(random.chance(0.4) && { renewal_date: date(random, 2026) }),
		...(random.chance(0.5) && { nps_score: random.below(11) }),
		...(random.chance(0.3) && { vip: random.chance(0.2) }),
		...(random.chance(0.5) && { customer_number: `C-${100_000 + number}` }),
		...(random.chance(0.2) && { interests: [random.pick(['product_news', 'events', 'training'])] }),
	};
}

export function companyValues(random: Random): Record<string, unknown> {
	return {
		...(random.chance(0.7) && { industry_code: `${10 + random.below(89)}.${10 + random.below(89)}` }),
		...(random.chance(0.5) && { support_plan: random.pick(['basic', 'business', 'premium']) }),
		...(random.chance(0.3) && { partner_since: date(random, 2020) }),
	};
}
