import { z } from 'zod/v4';
import { about, choice, currency, number, optional, phone, reference, requiredText, text, url } from './fields.ts';
import { lifecycleStages, postalAddress } from './profile.ts';
import { sharedFields, systemFields } from './record.ts';
import { exampleId } from './request-examples.ts';
import { defineResource } from './resource.ts';

/** A host name with at least one dot, lower-cased (RFC 1035, 2.3.1; at most 253 characters). */
const domainName = z.string().max(253).toLowerCase()
	.regex(/^([a-z0-9]([a-z0-9-]{0,61}[a-z0-9])?\.)+[a-z0-9-]{2,63}$/, {
		message: 'Write a domain without a protocol and a path, such as altamira.example.',
	})
	.meta({ format: 'hostname', 'x-lower-case': true });

export const companies = defineResource({
	name: 'companies',
	object: 'company',
	idPrefix: 'com',
	description: 'The organizations your contacts work for.',
	visibility: { owner: 'owner_id' },
	fields: {
		name: requiredText(255).meta(about('Name of the company.', 'Altamira Logistics')),
		domain: optional(domainName, about('Main internet domain of the company; unique.', 'altamira.example')),
		domains: z.array(domainName).max(50).default([]).meta(about('Further internet domains of the company.', ['altamira-logistics.example'])),
		industry: choice(
			[
				'agriculture', 'construction', 'education', 'energy', 'finance', 'food', 'health', 'hospitality', 'logistics',
				'manufacturing', 'media', 'professional_services', 'public_sector', 'retail', 'software', 'telecommunications', 'other',
			],
			about('Industry of the company.', 'logistics'),
		),
		employee_count: optional(z.int().min(0), about('Number of employees.', 240)),
		annual_revenue: number(about('Revenue per year, in the currency of the record.', 18500000)),
		currency: currency(about('Three-letter currency code of the revenue.', 'EUR')),
		phone: phone(about('Main phone number, with plus sign and country code.', '+34915550100')),
		website: url(about('Web address of the company.', 'https://altamira.example')),
		description: text(about('Description of the company.', 'Refrigerated transport in southern Europe.'), 10_000),
		address: postalAddress('Address of the company.'),
		parent_company_id: reference('companies', about('The company this one belongs to.', exampleId('com'))),
		lifecycle_stage: choice(lifecycleStages, about('Stage of the company on its way to becoming a customer.', 'customer')),
		...sharedFields,
		...systemFields('company'),
	},
	important: ['name', 'domain', 'industry', 'employee_count', 'phone', 'website', 'lifecycle_stage', 'owner_id'],
	examples: { create: { custom_fields: { support_plan: 'premium' } } },
	unique: { domain: ['domain'], external_id: ['external_id'] },
	sortable: ['name', 'domain', 'employee_count', 'annual_revenue', 'lifecycle_stage'],
	searched: ['name', 'domain', 'phone', 'description', 'external_id'],
	lookups: ['name', 'phone', 'parent_company_id'],

	check(company, previous) {
		if (company.parent_company_id === null || company.parent_company_id !== previous?.id) return [];
		return [{ pointer: '/parent_company_id', code: 'invalid_value', detail: 'A company cannot be its own parent.' }];
	},
});
