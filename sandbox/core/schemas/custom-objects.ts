import { z } from 'zod/v4';
import { memberNamed } from '../foundation/json.ts';
import { about, keyText, readOnly, requiredText, text } from './fields.ts';
import { sharedFields, systemFields } from './record.ts';
import { defineResource, type Resource, type StoredRecord } from './resource.ts';

/** Matches the keys of custom objects, as part of a regular expression. */
export const objectKeyPattern = '[a-z][a-z0-9_]{0,39}';

/** Matches the names of the resources of custom objects' records, as part of a regular expression. */
export const recordsPattern = `custom-objects/${objectKeyPattern}/records`;

const key = keyText(objectKeyPattern);

const label = (title: string, description: string, example: string) =>
	requiredText(100).meta({ title, description, examples: [example] });

export const customObjects = defineResource({
	name: 'custom-objects',
	object: 'custom_object',
	idPrefix: 'cob',
	description: 'Record types that you have added.',
	visibility: 'everyone',
	fields: {
		key: key.meta(about('Name of the object in paths; unique.', 'rental_cars', { 'x-immutable': true })),
		label_singular: label('Singular Label', 'Name of one record.', 'Rental Car'),
		label_plural: label('Plural Label', 'Name of several records.', 'Rental Cars'),
		primary_field: key.meta(
			about('Key of the custom field that is the title of each record. Add that field next.', 'plate', { 'x-immutable': true }),
		),
		description: text(about('Description of the records.'), 1000),
		...systemFields('custom_object'),
	},
	important: ['key', 'label_singular', 'label_plural', 'primary_field'],
	unique: { key: ['key'] },
	sortable: ['key', 'label_plural'],
	searched: ['key', 'label_singular', 'label_plural'],
	lookups: [],

	usedBy: ({ key }, { count }) => count(recordsName(key)) > 0 ? 'it still has records; delete them first' : undefined,

	// An object that reuses the key of a deleted one must not inherit its fields.
	deletedWith: ({ key }, { findBy }) =>
		findBy('custom-fields', 'resource', recordsName(key)).map(({ id }) => ({ resource: 'custom-fields', id })),
});

/** The name of the resource of an object's records, in paths and in custom fields. */
export const recordsName = (key: string): string => `${customObjects.name}/${key}/records`;

/** The key in the name of such a resource; undefined for other resources. */
export const objectKeyOf = (resource: string): string | undefined =>
	/^custom-objects\/(\w+)\/records$/.exec(resource)?.[1];

/** A resource that stands for the records of any object; its name holds the placeholder `{key}`. */
export const anyRecords: Resource = defineResource({
	name: recordsName('{key}'),
	object: 'custom_object_record',
	idPrefix: 'cor',
	description: 'The records of a custom object.',
	visibility: { owner: 'owner_id' },
	fields: {
		title: z.string().meta(readOnly('The value of the primary field.', 'Yearly maintenance')),
		...sharedFields,
		...systemFields('custom_object_record'),
	},
	important: ['title', 'external_id', 'owner_id', 'custom_fields'],
	// The examples are those of the machines in the sandbox.
	examples: {
		create: { custom_fields: { serial_number: 'M-50001', model: 'standard' } },
		update: { custom_fields: { operating_hours: 1200 } },
	},
	unique: { external_id: ['external_id'] },
	sortable: ['title'],
	searched: ['title', 'external_id'],
	lookups: ['owner_id'],
	eventPrefix: 'custom.{key}',
});

/**
 * The resource of an object's records. All share one set of schemas, because zod's registry of metadata
 * keeps every schema until the process ends.
 */
export const recordsOf = ({ id, key, primary_field: primaryField }: StoredRecord): Resource => ({
	...anyRecords,
	name: recordsName(String(key)),
	// The table is named by id, because an object that reuses the key of a deleted one must not inherit its records.
	table: id,
	// The prefix distinguishes it from a resource of the service with the same name.
	eventPrefix: `custom.${String(key)}`,

	complete: ({ custom_fields: values }) => ({
		title: String(memberNamed(values as Record<string, unknown>, String(primaryField)) ?? ''),
	}),

	check({ title }) {
		if (title !== '') return [];
		const detail = `${String(primaryField)} gives the record its title and is required.`;
		return [{ pointer: `/custom_fields/${String(primaryField)}`, code: 'required', detail }];
	},
});
