import type { StoredRecord } from '../core/schemas/resource.ts';
import { countries } from './countries.ts';
import { contactValues, companyValues } from './custom-field-seeds.ts';
import { addressIn, distinct, fillDigits, slug, jobTitles, leadSources, stages, companyNames, trades } from './people.ts';
import type { Random } from './random.ts';

/**
 * @param employers the companies that most contacts work for
 * @returns a function that creates the values of the next contact
 */
export function contactSeeds(random: Random, employers: StoredRecord[]) {
	const distinctAddress = distinct();
	return (i: number): Record<string, unknown> => {
		const employer = random.chance(0.92) ? random.pick(employers) : undefined;
		const home = countries.find(({ code }) => code === countryOf(employer)) ?? random.pick(countries);
		const firstName = random.pick(home.first);
		const lastName = random.pick(home.last);
		const domain = employer?.['domain'] ?? 'mail.example';
		const local = `${slug(firstName)}.${slug(lastName)}`;
		const email = distinctAddress(`${local}@${domain}`, (count) => `${local}${count}@${domain}`);
		const phone = random.chance(0.75) ? fillDigits(home.phone, random) : null;
		const hasEmail = random.chance(0.97);
		return {
			first_name: firstName,
			last_name: lastName,
			name: `${firstName} ${lastName}`,
			email: hasEmail ? email : null,
			emails: hasEmail ? [{ value: email, label: employer ? 'work' : null, primary: true }] : [],
			phone,
			phones: phone ? [{ value: phone, label: null, primary: true }] : [],
			job_title: employer ? random.pick(jobTitles) : null,
			company_id: employer?.id ?? null,
			lifecycle_stage: random.pick(stages),
			lead_source: random.pick(leadSources),
			address: random.chance(0.7) ? (employer?.['address'] ?? addressIn(home, random)) : null,
			language: home.language,
			timezone: home.timezone,
			marketing_consent: { email: random.chance(0.6), sms: random.chance(0.2) },
			external_id: random.chance(0.6) ? `shop-${100_000 + i}` : null,
			tag_ids: [],
			custom_fields: contactValues(random, i),
		};
	};
}

const countryOf = (company: StoredRecord | undefined): string | undefined =>
	(company?.['address'] as { country: string } | undefined)?.country;

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
