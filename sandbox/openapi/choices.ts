import type { JsonSchema } from '../schemas/json-schema.ts';
import type { Resource } from '../schemas/resource.ts';

/** The fields of records that take certain values only, with these values. */
export type Choices = Record<string, string[]>;

/** What can be chosen when records are written, by the path of their collection without version prefix. */
export function choicesOf(resources: readonly Resource[]): Record<string, Choices> {
	const choices = resources.map(({ name, properties }) => [
		`/${name}`,
		Object.fromEntries(
			Object.entries(properties)
				.filter(([, { readOnly = false }]) => !readOnly)
				.map(([field, schema]) => [field, valuesOf(schema)])
				.filter(([, values = []]) => values.length > 0),
		) as Choices,
	]);
	return Object.fromEntries(
		choices.filter(([, fields = {}]) => Object.keys(fields).length > 0),
	) as Record<string, Choices>;
}

const valuesOf = ({ enum: own, items }: JsonSchema): string[] =>
	(own ?? items?.enum ?? []).filter((value) => typeof value === 'string');
