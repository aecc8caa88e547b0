import { z } from 'zod/v4';
import { choice, email, emailAddress, instant, optional, phone, phoneNumber, reference, text, url } from './fields.ts';
import { languageTag, lifecycleStages, postalAddress, timeZone } from './profile.ts';
import { withPrimary } from './primary-entry.ts';
import { sharedFields, systemFields } from './record.ts';
import { exampleId } from './request-examples.ts';
import { defineResource } from './resource.ts';

const consent = (title: string, description: string) => optional(z.boolean(), { title, description });

const entry = <T extends z.ZodType>(value: T, title: string, example: string) =>
	z.strictObject({
		value: value.meta({ title, description: 'The email address or phone number.', examples: [example] }),
		label: text({ title: 'Label', description: 'Purpose, such as work or private.', examples: ['work'] }, 50),
		primary: z
			.boolean()
			.default(false)
			.meta({ title: 'Primary', description: 'Whether this is the primary entry.', examples: [true] }),
	});

export const contacts = defineResource({
	name: 'contacts',
	object: 'contact',
	idPrefix: 'con',
	description: 'The people you are in touch with.',
	visibility: { owner: 'owner_id' },
	fields: {
		first_name: text({ title: 'First Name', description: 'Given name of the person.', examples: ['Ana'] }),
		last_name: text({ title: 'Last Name', description: 'Family name of the person.', examples: ['Moreno'] }),
		name: z.string().meta({
			title: 'Name',
			description: 'First and last name or, if both are missing, the email address, phone number or external ID.',
			examples: ['Ana Moreno'],
			readOnly: true,
		}),
		email: email({ title: 'Email', description: 'Main email address; unique.', examples: ['ana.moreno@altamira.example'] }),
		emails: z
			.array(entry(emailAddress, 'Email', 'ana.moreno@altamira.example'))
			.max(20)
			.default([])
			.meta({ title: 'Emails', description: 'All email addresses; the primary one is Email.' }),
		phone: phone({ title: 'Phone', description: 'Main phone number, with plus sign and country code.', examples: ['+34915550142'] }),
		phones: z
			.array(entry(phoneNumber, 'Phone', '+34915550142'))
			.max(20)
			.default([])
			.meta({ title: 'Phones', description: 'All phone numbers; the primary one is Phone.' }),
		job_title: text({ title: 'Job Title', description: 'Position at the company.', examples: ['Head of Purchasing'] }),
		company_id: reference('companies', {
			title: 'Company',
			description: 'The company the person works for.',
			examples: [exampleId('com')],
		}),
		lifecycle_stage: choice(lifecycleStages, {
			title: 'Lifecycle Stage',
			description: 'Stage of the person on the way to becoming a customer.',
			examples: ['customer'],
		}),
		lead_source: choice(
			['website', 'referral', 'event', 'advertising', 'cold_outreach', 'partner', 'import', 'other'],
			{ title: 'Lead Source', description: 'Source of the contact.', examples: ['referral'] },
		),
		address: postalAddress('Address of the person.'),
		language: languageTag({ title: 'Language', description: 'Language to write in, like en or pt-BR.', examples: ['es'] }),
		timezone: timeZone({
			title: 'Time Zone',
			description: 'Time zone of the person, like Europe/Madrid.',
			examples: ['Europe/Madrid'],
		}),
		marketing_consent: optional(
			z.strictObject({
				email: consent('Email', 'Whether the person agreed to marketing by email.'),
				sms: consent('SMS', 'Whether the person agreed to marketing by text message.'),
			}),
			{
				title: 'Marketing Consent',
				description: 'Kinds of marketing the person has agreed to.',
				examples: [{ email: true, sms: false }],
			},
		),
		avatar_url: url({
			title: 'Avatar URL',
			description: 'Web address of a picture of the person.',
			examples: ['https://altamira.example/people/ana.png'],
		}),
		last_contacted_at: instant({
			title: 'Last Contacted At',
			description: 'Time of the last contact with the person.',
			readOnly: true,
		}),
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
