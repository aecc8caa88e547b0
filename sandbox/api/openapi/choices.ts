import type { JsonSchema } from '../../core/schemas/json-schema.ts';
import type { Resource } from '../../core/schemas/resource.ts';

/** The options of the fields that people fill in first or choose from a list; an empty list: no choices. */
type FormFields = Record<string, string[]>;

/** The form fields of each resource that clients may write, by the path of the collection without the version. */
export function choicesOf(resources: readonly Resource[]): Record<string, FormFields> {
	const entries = resources.map(({ name, properties }): [string, FormFields] => {
		const fields = Object.entries(properties).filter(([, { readOnly = false }]) => !readOnly)
			.filter(([, schema]) => optionsOf(schema).length > 0 || schema['x-important'] === true)
			.map(([field, schema]): [string, string[]] => [field, optionsOf(schema)]);
		return [`/${name}`, Object.fromEntries(fields)];
	});
	return Object.fromEntries(entries.filter(([, fields]) => Object.keys(fields).length > 0));
}

const optionsOf = ({ enum: options, items }: JsonSchema): string[] =>
	(options ?? items?.enum ?? []).filter((value) => typeof value === 'string');
