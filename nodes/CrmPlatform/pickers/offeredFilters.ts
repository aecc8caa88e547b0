import { labelFor, type Field } from '../api/openapi/fields';

/** In words, the comparison in brackets after the name of a filter, such as `created_at[gte]`. */
const comparisonWords: Record<string, string> = {
	contains: 'Contains',
	starts_with: 'Starts With',
	empty: 'Is Empty',
};

const timeWords: Record<string, string> = {
	gte: 'On or After',
	gt: 'After',
	lte: 'On or Before',
	lt: 'Before',
};

/**
 * The filters with labels for people, under the title of their field. Of the four bounds of a time only
 * the start and the end of a span are offered: the others differ by a moment. All of them still work.
 */
export function offeredFilters(filters: Field[]): Field[] {
	const names = new Set(filters.map(({ name }) => name));
	return filters.flatMap((filter) => {
		const [, name = '', comparison = ''] = /^(.+)\[(\w+)\]$/.exec(filter.name) ?? [];
		const isTime = filter.kind === 'dateTime' || filter.kind === 'date';
		const isSpan = names.has(`${name}[gte]`) && names.has(`${name}[lt]`);
		if (isTime && isSpan && (comparison === 'gt' || comparison === 'lte')) return [];
		const words = (isTime ? timeWords[comparison] : undefined) ?? comparisonWords[comparison];
		if (words === undefined) return [filter];
		const label = filters.find((other) => other.name === name)?.label ?? labelFor(name);
		return [{ ...filter, label: `${label} (${words})` }];
	});
}
