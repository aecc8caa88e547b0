import type { JsonSchema } from '../../core/schemas/json-schema.ts';
import type { Resource } from '../../core/schemas/resource.ts';

/** The fields that people fill in first or choose from a list, with the options of those that have some. */
type Choices = Record<string, string[]>;

/** The choices of the writable fields, by the path of the collection without the version. */
export function choicesOf(resources: readonly Resource[]): Record<string, Choices> {
	const choices = resources.map(({ name, properties }): [string, Choices] => {
		const fields = Object.entries(properties)
			.filter(([, { readOnly = false }]) => !readOnly)
			.filter(([, schema]) => optionsOf(schema).length > 0 || schema['x-important'] === true)
			.map(([field, schema]): [string, string[]] => [field, optionsOf(schema)]);
		return [`/${name}`, Object.fromEntries(fields)];
	});
	return Object.fromEntries(choices.filter(([, fields]) => Object.keys(fields).length > 0));
}

const optionsOf = ({ enum: options, items }: JsonSchema): string[] =>
	(options ?? items?.enum ?? []).filter((value) => typeof value === 'string');
