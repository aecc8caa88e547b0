import { getOrCreate } from '../../base/maps';
import type { Field } from '../../fields/field';

/** The comparisons in brackets after the name of a filter: `created_at[gte]`. */
export const comparisons = ['gte', 'gt', 'lte', 'lt', 'contains', 'starts_with', 'empty'] as const;

/** How a filter compares; `is` is equality, which is written without brackets. */
export type Comparison = 'is' | (typeof comparisons)[number];

/** A field by which a list can be filtered, with one filter for each comparison of the service. */
export interface FilteredField {
	name: string;
	label: string;
	filters: Map<Comparison, Field>;
}

/** The field and the comparison of a filter; with an unknown comparison, the whole name is a field. */
export function comparedBy(parameter: string): { name: string; comparison: Comparison } {
	const [, name = '', suffix] = /^(.+)\[(\w+)\]$/.exec(parameter) ?? [];
	const comparison = comparisons.find((candidate) => candidate === suffix);
	return comparison ? { name, comparison } : { name: parameter, comparison: 'is' };
}

/** The filters of a list by field, in the order of the list. */
export function filteredFields(filters: Field[]): FilteredField[] {
	const fields = new Map<string, FilteredField>();
	for (const filter of filters) {
		const { name, comparison } = comparedBy(filter.name);
		const field = getOrCreate(fields, name, () => ({ name, label: filter.label, filters: new Map<Comparison, Field>() }));
		field.filters.set(comparison, filter);
		if (comparison === 'is') field.label = filter.label;
	}
	return [...fields.values()];
}
