import { z } from 'zod/v4';
import { plainText, text } from './fields.ts';
import { sharedFields, systemFields } from './record.ts';
import { defineResource, type Resource, type StoredRecord } from './resource.ts';

const key = z.string().regex(/^[a-z][a-z0-9_]{0,39}$/, {
	message: 'A key is lower-case letters, digits and underscores, and begins with a letter.',
});

const label = (title: string, description: string, example: string) =>
	plainText().min(1).max(100).meta({ title, description, examples: [example] });

export const customObjects = defineResource({
	name: 'custom-objects',
	object: 'custom_object',
	idPrefix: 'cob',
	description: 'Kinds of records that you have added yourself.',
	visibility: 'everyone',
	fields: {
		key: key.meta({
			title: 'Key',
			description: 'Name of the object in paths; unique.',
			examples: ['rental_cars'],
			'x-immutable': true,
		}),
		label_singular: label('Singular Label', 'What people call one record.', 'Rental Car'),
		label_plural: label('Plural Label', 'What people call several records.', 'Rental Cars'),
		primary_field: key.meta({
			title: 'Primary Field',
			description: 'Key of the custom field that gives records their title; define it next.',
			examples: ['plate'],
			'x-immutable': true,
		}),
		description: text({ title: 'Description', description: 'What the records are.' }, 1000),
		...systemFields('custom_object'),
	},
	important: ['key', 'label_singular', 'label_plural', 'primary_field'],
	unique: { key: ['key'] },
	sortable: ['key', 'label_plural'],
	searched: ['key', 'label_singular', 'label_plural'],
	lookups: [],

	usedBy: ({ key }, { count }) =>
		count(recordsName(key)) > 0 ? 'it still has records; delete them first' : undefined,

	// An object that reuses the key has fields of its own.
	deletedWith: ({ key }, { findBy }) =>
		findBy('custom-fields', 'resource', recordsName(key), 10_000).map(({ id }) => ({
			resource: 'custom-fields',
			id,
		})),
});

/** What the resource of an object's records is called, in paths and in custom fields. */
export const recordsName = (key: string): string => `${customObjects.name}/${key}/records`;

/** The key in the name of such a resource, or undefined for other resources. */
export const objectKeyOf = (resource: string): string | undefined =>
	/^custom-objects\/(\w+)\/records$/.exec(resource)?.[1];

/** The resource that a definition makes: its records are what their custom fields say. */
export const recordsOf = ({ id, key, primary_field: primaryField }: StoredRecord): Resource =>
	defineResource({
		name: recordsName(String(key)),
		// By id: an object that reuses the key of a deleted one begins without records.
		table: id,
		object: 'custom_object_record',
		idPrefix: 'cor',
		description: 'The records of a custom object.',
		visibility: { owner: 'owner_id' },
		fields: {
			title: z.string().meta({
				title: 'Title',
				description: 'The value of the primary field.',
				examples: ['Yearly maintenance'],
				readOnly: true,
			}),
			...sharedFields,
			...systemFields('custom_object_record'),
		},
		important: ['title', 'external_id', 'owner_id', 'custom_fields'],
		unique: { external_id: ['external_id'] },
		sortable: ['title'],
		searched: ['title', 'external_id'],
		lookups: ['owner_id'],
		// Behind a word of its own, an object may be called like a resource of the service.
		eventPrefix: `custom.${String(key)}`,

		complete: ({ custom_fields: values }) => ({
			title: String(values[String(primaryField)] ?? ''),
		}),

		check({ title }) {
			if (title !== '') return [];
			const detail = `${String(primaryField)} gives the record its title and is required.`;
			return [{ pointer: `/custom_fields/${String(primaryField)}`, code: 'required', detail }];
		},
	});

/** The resource of the records of any object, for what all of them have in common. */
export const anyRecords = (placeholder: ':key' | '{key}'): Resource => {
	const definition = { key: placeholder, primary_field: '' };
	return recordsOf(definition as unknown as StoredRecord);
};
