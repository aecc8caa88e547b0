/** One row of filters. */
export const filterBy = (field: string, value: string) => ({ rows: [{ field, operator: 'is', value }] });

/** A resource mapper that takes the values of known fields from the input items. */
export const fromInput = {
	mappingMode: 'autoMapInputData',
	value: null,
	matchingColumns: [],
	schema: [],
};
