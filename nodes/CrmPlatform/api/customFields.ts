import { z } from 'zod';

import type { Connection } from './connection';
import { labelFor, type Field, type FieldKind } from './fields';
import { comparisons } from './listing';
import { pages } from './pages';

const definition = z.object({
	key: z.string(),
	label: z.string().nullish(),
	description: z.string().nullish(),
	type: z.string(),
	options: z
		.array(
			z.union([
				z.string(),
				z.object({ value: z.string(), label: z.string().nullish() }),
			]),
		)
		.nullish(),
	reference_resource: z.string().nullish(),
	required: z.boolean().nullish(),
	unique: z.boolean().nullish(),
	read_only: z.boolean().nullish(),
	archived_at: z.string().nullish(),
});

type Definition = z.infer<typeof definition>;

const path = '/custom-fields';

/**
 * The fields an account has added to some records, those a user may write; none where the service
 * has no custom fields.
 *
 * @param collection path of the records: `/v1/contacts`, `/v1/custom-objects/cars/records`
 */
export async function customFields(api: Connection, collection: string): Promise<Field[]> {
	const list = (await api.describe(path))?.list;
	if (!list) return [];
	const fields: Field[] = [];
	const resource = decodeURIComponent(collection.replace(/^\/v1\//, ''));
	for await (const { records } of pages(api.send, { path: `/v1${path}`, list, query: { resource } })) {
		for (const record of records) {
			const known = definition.safeParse(record);
			if (known.success && !known.data.read_only && !known.data.archived_at) {
				fields.push(fieldOf(known.data));
			}
		}
	}
	return fields;
}

const kinds: Record<string, FieldKind> = {
	number: 'number',
	boolean: 'boolean',
	date: 'date',
	datetime: 'dateTime',
	select: 'choice',
	multi_select: 'list',
};

function fieldOf(given: Definition): Field {
	const { key, label, description, type, options, required, unique } = given;
	const field: Field = {
		name: `custom_fields.${key}`,
		path: ['custom_fields', key],
		label: label ?? labelFor(key),
		description: description ?? '',
		// Types the service may gain later are written as text.
		kind: kinds[type] ?? 'text',
		required: required ?? false,
		unique: unique ?? false,
	};
	const reference = type === 'user' ? 'users' : given.reference_resource;
	if (reference) field.reference = reference;
	if (options?.length) {
		field.choices = options.map((option) =>
			typeof option === 'string'
				? { label: option, value: option }
				: { label: option.label ?? option.value, value: option.value },
		);
	}
	return field;
}

const ordered: FieldKind[] = ['number', 'date', 'dateTime'];

/** The filters custom fields make: by equality, and by comparison where values have an order. */
export function customFilters(fields: Field[]): Field[] {
	return fields.flatMap((field) => {
		const { name, label } = field;
		const filter: Field = { ...field, path: [name], required: false };
		if (!ordered.includes(field.kind)) return [filter];
		const compared = Object.entries(comparisons).map(([comparison, words]): Field => {
			const parameter = `${name}[${comparison}]`;
			return { ...filter, name: parameter, path: [parameter], label: `${label} (${words})` };
		});
		return [filter, ...compared];
	});
}
