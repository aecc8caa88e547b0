import { z } from 'zod';

import type { Connection } from './connection';
import { labelFor, type Field, type FieldKind } from './fields';
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
	required: z.boolean().nullish(),
	read_only: z.boolean().nullish(),
	archived_at: z.string().nullish(),
});

type Definition = z.infer<typeof definition>;

const path = '/custom-fields';

/**
 * The fields an account has added to the records at `resourcePath` (`/contacts`), those a user may
 * write; none where the service has no custom fields.
 */
export async function customFields(api: Connection, resourcePath: string): Promise<Field[]> {
	const list = (await api.describe(path))?.list;
	if (!list) return [];
	const fields: Field[] = [];
	const resource = resourcePath.slice(1);
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

function fieldOf({ key, label, description, type, options, required }: Definition): Field {
	const field: Field = {
		name: `custom_fields.${key}`,
		path: ['custom_fields', key],
		label: label ?? labelFor(key),
		description: description ?? '',
		// Types the service may gain later are written as text.
		kind: kinds[type] ?? 'text',
		required: required ?? false,
	};
	if (options?.length) {
		field.choices = options.map((option) =>
			typeof option === 'string'
				? { label: option, value: option }
				: { label: option.label ?? option.value, value: option.value },
		);
	}
	return field;
}
