import type { IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import { oncePerConnection, type Connection } from './connection';
import { undefinedIfAnsweredWith } from './refusals';
import { ownMember } from '../base/ownMembers';
import { allCustomFields, customFieldPrefix, fieldNamed, labelFor, type Field } from '../fields/field';
import { kindOfCustomType, valueShape } from '../fields/fieldKinds';
import { e164 } from '../fields/phones';
import { comparisons } from '../fields/condition';
import type { ListDescription } from './openapi/listing';
import { readPages } from './lists/pages';
import { collectionName, type Collection } from './http/path';
import { notReadable } from './http/statuses';

const definitionSchema = z.object({
	key: z.string(),
	label: z.string().nullish(),
	description: z.string().nullish(),
	type: z.string(),
	options: z.array(z.object({ value: z.string(), label: z.string().nullish() })).nullish(),
	reference_resource: z.string().nullish(),
	required: z.boolean().nullish(),
	unique: z.boolean().nullish(),
	read_only: z.boolean().nullish(),
	archived_at: z.string().nullish(),
});

export type Definition = z.infer<typeof definitionSchema>;

export const definitionsPath = '/custom-fields';

export interface CustomFields {
	fields: Field[];
	readOnly: Field[];
	/** Read-only and archived fields, which records have but which cannot be written. */
	unwritable: Field[];
	/** The definitions that are not understood, as the service has them. */
	notUnderstood: IDataObject[];
}

/** Reads the custom fields of a record type: empty if the service has no custom fields. */
export async function readCustomFields(api: Connection, collection: Collection): Promise<CustomFields> {
	const list = (await api.describe(definitionsPath))?.list;
	const custom: CustomFields = { fields: [], readOnly: [], unwritable: [], notUnderstood: [] };
	if (!list) return custom;
	const resource = collectionName(collection);
	for await (const { records } of readPages(api.send, { path: definitionsPath, list, query: { resource } })) {
		for (const record of records) {
			const parsed = definitionSchema.safeParse(record);
			if (!parsed.success) {
				custom.notUnderstood.push(record);
				continue;
			}
			const field = customFieldOf(parsed.data);
			const { archived_at: archivedAt, read_only: isReadOnly } = parsed.data;
			if (archivedAt || isReadOnly) custom.unwritable.push(field);
			if (!archivedAt) (isReadOnly ? custom.readOnly : custom.fields).push(field);
		}
	}
	return custom;
}

/** The fields that records have now, which lists can be filtered by: archived ones are left out, read-only ones are not. */
export const currentFields = (custom: CustomFields | undefined): Field[] => [...(custom?.fields ?? []), ...(custom?.readOnly ?? [])];

const hidden =
	'The credential is not allowed to read custom fields, so their values are sent unchecked. ' +
	'To have them checked and converted, allow the credential to read custom fields.';

/** Reads the custom fields once per connection. @returns undefined if the service refuses (403) or hides the definitions (404) */
export const readableCustomFields = oncePerConnection(async (api, collection: Collection): Promise<CustomFields | undefined> =>
	await readCustomFields(api, collection).catch(undefinedIfAnsweredWith(...notReadable)));

/** The same for values that are sent, with a notice if they are sent unchecked. */
export const readCustomFieldsIfAllowed = oncePerConnection(async (api, collection: Collection): Promise<CustomFields | undefined> => {
	const custom = await readableCustomFields(api, collection);
	if (!custom) api.notices.add(hidden);
	return custom;
});

/** The same, if the described `fields` include custom ones: services refuse to list those of other records. */
export const customFieldsIfAny = async (api: Connection, collection: Collection, fields: Field[]): Promise<CustomFields | undefined> =>
	fields.some(({ name }) => name === allCustomFields) ? await readCustomFieldsIfAllowed(api, collection) : undefined;

/** Reads the fields that records of a type may have, archived custom ones included, and whether all definitions could be read. */
export async function readRecordFields(api: Connection, template: Collection, path: Collection): Promise<{ fields: Field[]; isComplete: boolean }> {
	const { fields = [] } = (await api.describe(template)) ?? {};
	if (!fields.some(({ name }) => name === allCustomFields)) return { fields, isComplete: true };
	const custom = await readableCustomFields(api, path);
	return { fields: [...fields, ...(custom?.fields ?? []), ...(custom?.unwritable ?? [])], isComplete: custom?.notUnderstood.length === 0 };
}

/** What the type of a custom field says beside its kind, as in the standard fields. */
const propertiesOfTypes: Record<string, Partial<Field>> = {
	email: { lowerCase: [''], format: 'email' },
	phone: { pattern: e164 },
	url: { isUrl: true, format: 'uri' },
	user: { target: '/users' },
};

export function customFieldOf({ key, type, options, reference_resource: linked, ...definition }: Definition): Field {
	return {
		name: customFieldPrefix + key,
		path: [allCustomFields, key],
		label: definition.label ?? labelFor(key),
		description: definition.description ?? '',
		kind: kindOfCustomType(type),
		required: definition.required ?? false,
		unique: definition.unique ?? false,
		customType: type,
		...(linked && { target: `/${linked}` }),
		...ownMember(propertiesOfTypes, type),
		...(options?.length && { choices: options.map(({ value, label }) => ({ label: label ?? value, value })) }),
	};
}

/** Adds a field that the run creates to the custom fields as they were read. */
export function addField({ fields }: CustomFields, definition: Definition): Field {
	const field = customFieldOf(definition);
	fields.push(field);
	return field;
}

const bounds = ['gte', 'gt', 'lte', 'lt'];

/** The filters of a list, and those by custom fields: equality with one value (several for `customLists`), and their type's comparisons. */
export function allFilters({ filters, customComparisons = {}, customLists = [] }: ListDescription, customFields: Field[]): Field[] {
	const custom = customFields.flatMap((field): Field[] => {
		const { name, label, description, kind, customType = '' } = field;
		const filter: Field = { ...field, path: [name], required: false };
		const equal: Field = customLists.includes(customType) && valueShape(field) !== 'list' ? { ...filter, kind: 'list', items: kind } : filter;
		const compared = comparisons.filter((comparison) => ownMember(customComparisons, customType)?.includes(comparison)).map((comparison): Field => {
			const parameter = `${name}[${comparison}]`;
			if (bounds.includes(comparison)) return { ...filter, name: parameter, path: [parameter] };
			const valueKind = comparison === 'empty' ? 'boolean' : 'text';
			return fieldNamed(parameter, { path: [parameter], label, description, kind: valueKind });
		});
		return [equal, ...compared];
	});
	return [...filters, ...custom];
}
