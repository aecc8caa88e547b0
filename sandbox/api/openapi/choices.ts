import type { JsonSchema } from '../../core/schemas/json-schema.ts';
import type { Resource } from '../../core/schemas/resource.ts';

/** The options of the fields with a fixed set of values. */
export type Choices = Record<string, string[]>;

/** The options of writable fields, by the path of the collection without the version. */
export function choicesOf(resources: readonly Resource[]): Record<string, Choices> {
	const choices = resources.map(({ name, properties }) => [
		`/${name}`,
		Object.fromEntries(
			Object.entries(properties)
				.filter(([, { readOnly = false }]) => !readOnly)
				.map(([field, schema]) => [field, optionsOf(schema)])
				.filter(([, values = []]) => values.length > 0),
		) as Choices,
	]);
	return Object.fromEntries(
		choices.filter(([, fields = {}]) => Object.keys(fields).length > 0),
	) as Record<string, Choices>;
}

const optionsOf = ({ enum: own, items }: JsonSchema): string[] =>
	(own ?? items?.enum ?? []).filter((value) => typeof value === 'string');
