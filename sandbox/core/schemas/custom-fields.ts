import { z } from 'zod/v4';
import type { FieldError } from '../foundation/problem.ts';
import { customObjects, objectKeyOf, recordsPattern } from './custom-objects.ts';
import { about, choice, instant, keyText, requiredText, text } from './fields.ts';
import { systemFields } from './record.ts';
import { defineResource, hasCustomFields, type RecordOf } from './resource.ts';
import { standardResources } from './standard-resources.ts';

/** The resources that carry custom fields, besides the records of custom objects. */
const customizable = standardResources.filter(hasCustomFields).map(({ name }) => name) as [string, ...string[]];

const customizableName = z.string().max(100)
	.regex(new RegExp(`^(${customizable.join('|')}|${recordsPattern})$`), {
		message: `Expected one of: ${customizable.join(', ')}, custom-objects/{key}/records.`,
	});

export const customFieldTypes = [
	'text', 'long_text', 'number', 'boolean', 'date', 'datetime', 'select', 'multi_select', 'url', 'email', 'phone', 'user',
	'reference',
] as const;

/** Maximum number of custom fields of one record type. */
export const maxCustomFields = 500;

const option = z.strictObject({
	value: requiredText(100).regex(/^[^,]*$/, {
		message: 'It must not contain a comma, because commas separate values in filters.',
	}).meta(about('The value that records store.', 'express')),
	label: requiredText(100).meta(about('Label shown to people.', 'Express')),
});

const flag = (description: string) => z.boolean().default(false).meta(about(description, false));

const fields = {
	resource: customizableName.meta(
		about('Record type of the field, such as contacts or custom-objects/{key}/records.', 'contacts', { 'x-immutable': true }),
	),
	key: keyText('[a-z][a-z0-9_]{0,62}').meta(
		about('Name of the field in custom_fields; unique in its resource.', 'shipping_class', { 'x-immutable': true }),
	),
	label: requiredText(100).meta(about('Label of the field, shown to people.', 'Shipping Class')),
	type: z.enum(customFieldTypes).meta(about('Type of the value.', 'select', { 'x-immutable': true })),
	options: z.array(option).max(500).default([]).meta(
		about('The values to choose from; for select and multi_select only.', [{ value: 'express', label: 'Express' }]),
	),
	reference_resource: choice(
		customizable,
		about('The resource whose ids the field holds; for reference only.', undefined, { title: 'Referenced Resource' }),
	),
	description: text(about('Purpose of the field.'), 1000),
	required: flag('Whether a record must have a value.'),
	unique: flag('Whether the value must be unique among records.'),
	read_only: flag('Whether clients may only read the value.'),
	position: z.int().min(0).default(0).meta(about('Position of the field in forms, ascending.', 1)),
	archived_at: instant(about('Time the field was archived.')),
	...systemFields('custom_field'),
};

export const customFields = defineResource({
	name: 'custom-fields',
	object: 'custom_field',
	idPrefix: 'cf',
	description: `The fields you have added to your records: at most ${maxCustomFields} per record type.`,
	visibility: 'everyone',
	isAdministrative: true,
	fields,
	important: ['resource', 'key', 'label', 'type', 'options', 'required'],
	unique: { key: ['resource', 'key'] },
	sortable: ['key', 'label', 'position'],
	searched: ['key', 'label'],
	lookups: [],

	check(field, previous, { findBy }) {
		if (!previous && findBy('custom-fields', 'resource', field.resource, maxCustomFields).length === maxCustomFields) {
			const detail = `The resource ${field.resource} already has the maximum of ${maxCustomFields} custom fields. Delete one first.`;
			return [{ pointer: '/resource', code: 'too_many', detail }];
		}
		const errors: FieldError[] = [];
		const refuse = (pointer: string, detail: string) => errors.push({ pointer, code: 'invalid_value', detail });
		const key = objectKeyOf(field.resource);
		if (!previous && key !== undefined && findBy(customObjects.name, 'key', key).length === 0) {
			const detail = `There is no custom object ${key}.`;
			errors.push({ pointer: '/resource', code: 'reference_not_found', detail });
		}
		const values = field.options.map(({ value }) => value);
		const isChoice = field.type === 'select' || field.type === 'multi_select';
		if (isChoice && values.length === 0) {
			refuse('/options', `A ${field.type} field needs at least one option.`);
		}
		if (!isChoice && values.length > 0) {
			refuse('/options', 'Only select and multi_select fields have options.');
		}
		if (new Set(values).size < values.length) {
			refuse('/options', 'Two options have the same value.');
		}
		if ((field.type === 'reference') !== (field.reference_resource !== null)) {
			refuse('/reference_resource', 'Only reference fields have a reference_resource, and they need one.');
		}
		if (field.unique && (field.type === 'boolean' || field.type === 'multi_select')) {
			refuse('/unique', `A ${field.type} field cannot be unique.`);
		}
		if (field.required && field.read_only) {
			refuse('/read_only', 'A required field cannot be read-only.');
		}
		return errors;
	},
});

/** The definition of a custom field. */
export type CustomField = RecordOf<typeof fields>;
