import { getOrCreate } from '../../base/maps';
import { comparedBy, type Comparison } from '../../fields/condition';
import type { Field } from '../../fields/field';

/** A field by which a list can be filtered, with one filter for each comparison of the service. */
export interface FilteredField {
	name: string;
	label: string;
	filters: Map<Comparison, Field>;
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
