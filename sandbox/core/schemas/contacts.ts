import { z } from 'zod/v4';
import { about, choice, email, emailAddress, instant, optional, phone, phoneNumber, readOnly, reference, text, url } from './fields.ts';
import { languageTag, lifecycleStages, postalAddress, timeZone } from './profile.ts';
import { sharedFields, systemFields } from './record.ts';
import { exampleId } from './request-examples.ts';
import { defineResource } from './resource.ts';

/** One of several addresses or numbers of a person. */
interface Entry {
	value: string;
	label: string | null;
	primary: boolean;
}

/**
 * Keeps a single value (`email`) consistent with its list (`emails`). If a write changes one of them, the other
 * follows: a new single value replaces the former one in the list. If a write changes both, the single value says
 * which entry is primary, and the list keeps all of its entries.
 *
 * @returns the single value and the list, in which exactly that value is primary
 */
function withPrimary(
	single: string | null,
	list: Entry[],
	previousSingle: string | null = null,
	previousList: Entry[] = [],
): { primary: string | null; all: Entry[] } {
	const listChanged = JSON.stringify(list) !== JSON.stringify(previousList);
	const singleChanged = single !== previousSingle;
	if (listChanged && !singleChanged) {
		const primary = (list.find((entry) => entry.primary) ?? list[0])?.value ?? null;
		return { primary, all: mark(list, primary) };
	}
	const entries = singleChanged && !listChanged ? list.filter((entry) => entry.value !== previousSingle) : list;
	if (single === null) return { primary: null, all: mark(entries, null) };
	const isPresent = entries.some((entry) => entry.value === single);
	const all = isPresent ? entries : [{ value: single, label: null, primary: true }, ...entries];
	return { primary: single, all: mark(all, single) };
}

/** Marks the primary entry and removes duplicates. */
const mark = (list: Entry[], primary: string | null): Entry[] =>
	list.filter(({ value }, i) => list.findIndex((other) => other.value === value) === i)
		.map((entry) => ({ ...entry, primary: entry.value === primary }));

const entry = <T extends z.ZodType>(value: T, title: string, example: string) =>
	z.strictObject({
		value: value.meta({ title, description: 'The email address or phone number.', examples: [example] }),
		label: text(about('Purpose, such as work or private.', 'work'), 50),
		primary: z.boolean().default(false).meta(about('Whether this is the primary entry.', true)),
	});

export const contacts = defineResource({
	name: 'contacts',
	object: 'contact',
	idPrefix: 'con',
	description: 'The people you are in touch with.',
	visibility: { owner: 'owner_id' },
	fields: {
		first_name: text(about('Given name of the person.', 'Ana')),
		last_name: text(about('Family name of the person.', 'Moreno')),
		name: z.string().meta(
			readOnly('First and last name or, if both are missing, the email address, phone number or external ID.', 'Ana Moreno'),
		),
		email: email(about('Main email address; unique.', 'ana.moreno@altamira.example')),
		emails: z.array(entry(emailAddress, 'Email', 'ana.moreno@altamira.example')).max(20).default([])
			.meta(about('All email addresses; the primary one is Email.')),
		phone: phone(about('Main phone number, with plus sign and country code.', '+34915550142')),
		phones: z.array(entry(phoneNumber, 'Phone', '+34915550142')).max(20).default([])
			.meta(about('All phone numbers; the primary one is Phone.')),
		job_title: text(about('Position at the company.', 'Head of Purchasing')),
		company_id: reference('companies', about('The company the person works for.', exampleId('com'))),
		lifecycle_stage: choice(lifecycleStages, about('Stage of the person on the way to becoming a customer.', 'customer')),
		lead_source: choice(
			['website', 'referral', 'event', 'advertising', 'cold_outreach', 'partner', 'import', 'other'],
			about('Source of the contact.', 'referral'),
		),
		address: postalAddress('Address of the person.'),
		language: languageTag(about('Language to write in, like en or pt-BR.', 'es')),
		timezone: timeZone(about('Time zone of the person, like Europe/Madrid.', 'Europe/Madrid', { title: 'Time Zone' })),
		marketing_consent: optional(
			z.strictObject({
				email: optional(z.boolean(), about('Whether the person agreed to marketing by email.')),
				sms: optional(z.boolean(), about('Whether the person agreed to marketing by text message.')),
			}),
			about('Kinds of marketing the person has agreed to.', { email: true, sms: false }),
		),
		avatar_url: url(about('Web address of a picture of the person.', 'https://altamira.example/people/ana.png')),
		last_contacted_at: instant(readOnly('Time of the last contact with the person.')),
		...sharedFields,
		...systemFields('contact'),
	},
	important: ['first_name', 'last_name', 'name', 'email', 'phone', 'company_id', 'job_title', 'lifecycle_stage', 'owner_id'],
	examples: { create: { custom_fields: { contract_tier: 'gold' } } },
	unique: { email: ['email'], external_id: ['external_id'] },
	sortable: ['name', 'last_name', 'email', 'lifecycle_stage', 'last_contacted_at'],
	searched: ['name', 'email', 'phone', 'job_title', 'external_id'],
	lookups: ['name', 'phone', 'company_id'],

	complete(contact, previous) {
		const mails = withPrimary(contact.email, contact.emails, previous?.email, previous?.emails);
		const phones = withPrimary(contact.phone, contact.phones, previous?.phone, previous?.phones);
		const fullName = [contact.first_name, contact.last_name].filter(Boolean).join(' ');
		return {
			email: mails.primary,
			emails: mails.all,
			phone: phones.primary,
			phones: phones.all,
			name: fullName || (mails.primary ?? phones.primary ?? contact.external_id ?? ''),
		};
	},

	check(contact) {
		if (contact.email ?? contact.phone ?? contact.last_name ?? contact.external_id) return [];
		return [{ pointer: '', code: 'required', detail: 'A contact needs at least one of email, phone, last_name, external_id.' }];
	},
});
