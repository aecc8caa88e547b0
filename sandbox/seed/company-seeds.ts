import { countries } from './countries.ts';
import { companyValues } from './custom-field-seeds.ts';
import { addressIn, distinct, fillDigits, slug } from './people.ts';
import type { Random } from './random.ts';
import { companyNames, stages, trades } from './words.ts';

const names = companyNames.trim().split(/\s+/);

/** @returns a function that creates the values of the next company */
export function companySeeds(random: Random) {
	const distinctDomain = distinct();
	return (i: number): Record<string, unknown> => {
		const country = random.pick(countries);
		const address = addressIn(country, random);
		const [trade, industry] = random.pick(trades);
		const name = `${random.pick(names)} ${trade}`;
		const local = `${slug(name)}-${slug(address.city)}`;
		const domain = distinctDomain(`${slug(name)}.example`, () =>
			distinctDomain(`${local}.example`, (count) => `${local}-${count}.example`),
		);
		const employees = Math.round(5 * 2 ** (random.next() * 11));
		return {
			name: `${name} ${country.legalForm}`,
			domain,
			domains: [],
			industry,
			employee_count: employees,
			annual_revenue: employees * (60_000 + 1000 * random.below(120)),
			currency: country.currency,
			phone: random.chance(0.8) ? fillDigits(country.phone, random) : null,
			website: `https://www.${domain}`,
			address,
			lifecycle_stage: random.pick(stages),
			external_id: `erp-${10_000 + i}`,
			tag_ids: [],
			custom_fields: companyValues(random),
		};
	};
}
