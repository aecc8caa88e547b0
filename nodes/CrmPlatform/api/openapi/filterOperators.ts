import { getOrCreate } from '../../base/maps';
import { withoutMembers } from '../../base/ownMembers';
import { comparedBy, type Comparison } from '../../fields/condition';
import type { Field, FieldKind } from '../../fields/field';
import { fieldKinds, isBooleanField, valueShape, type ValueType } from '../../fields/fieldKinds';
import { linksOf } from './linkFields';

/** A field by which a list can be filtered, with one filter for each comparison of the service. */
export interface FilteredField {
	name: string;
	label: string;
	filters: Map<Comparison, Field>;
}

/** The filters of a list by field, in the order of the list. A filter by links is a field for each type of record. */
export function filteredFields(filters: Field[]): FilteredField[] {
	const fields = new Map<string, FilteredField>();
	for (const filter of filters) {
		if (filter.linksTo) {
			// Its pattern is that of `contacts:con_…`.
			const linked = withoutMembers(filter, 'pattern');
			for (const { name, label, target } of linksOf([filter])) {
				fields.set(name, { name, label, filters: new Map([['is', { ...linked, label, target }]]) });
			}
			continue;
		}
		const { name, comparison } = comparedBy(filter.name);
		const field = getOrCreate(fields, name, () => ({ name, label: filter.label, filters: new Map<Comparison, Field>() }));
		field.filters.set(comparison, filter);
		if (comparison === 'is') field.label = filter.label;
	}
	return [...fields.values()];
}

/** How a user compares a field with a value: one or two filters of the service. */
export interface FilterOperator {
	/** The operator's name in stored workflows. */
	value: string;
	name: string;
	/** The parameters that hold its value; none if the operator needs no value. */
	takes?: 'values' | 'choices' | 'dates' | 'record';
	/** The filters it consists of, each with its value: the user's first or second value, or a constant. */
	filters: Array<[comparison: Comparison, value: 'first' | 'second' | boolean]>;
	/** The fields it is for; any if absent. */
	onlyFor?: 'links' | 'lists' | 'booleans' | 'times' | 'notTimes';
}

/** How the values of a field are compared, by their type: times by whole days. */
const comparedAs: Record<ValueType, 'values' | 'booleans' | 'times'> = {
	text: 'values', number: 'values', varied: 'values', boolean: 'booleans', day: 'times', instant: 'times',
};

/** In the order in which forms list them. */
export const filterOperators: FilterOperator[] = [
	{ value: 'is', name: 'Is', takes: 'values', filters: [['is', 'first']] },
	{ value: 'isRecord', name: 'Is (From List)', takes: 'record', filters: [['is', 'first']], onlyFor: 'links' },
	{ value: 'isOneOf', name: 'Is One Of', takes: 'values', filters: [['is', 'first']], onlyFor: 'lists' },
	{ value: 'isOneOfChoices', name: 'Is One Of', takes: 'choices', filters: [['is', 'first']], onlyFor: 'lists' },
	{ value: 'isTrue', name: 'Is True', filters: [['is', true]], onlyFor: 'booleans' },
	{ value: 'isFalse', name: 'Is False', filters: [['is', false]], onlyFor: 'booleans' },
	{ value: 'contains', name: 'Contains', takes: 'values', filters: [['contains', 'first']] },
	{ value: 'startsWith', name: 'Starts With', takes: 'values', filters: [['starts_with', 'first']] },
	{ value: 'isAtLeast', name: 'Is at Least', takes: 'values', filters: [['gte', 'first']], onlyFor: 'notTimes' },
	{ value: 'isMoreThan', name: 'Is More Than', takes: 'values', filters: [['gt', 'first']], onlyFor: 'notTimes' },
	{ value: 'isAtMost', name: 'Is at Most', takes: 'values', filters: [['lte', 'first']], onlyFor: 'notTimes' },
	{ value: 'isLessThan', name: 'Is Less Than', takes: 'values', filters: [['lt', 'first']], onlyFor: 'notTimes' },
	{ value: 'isBetween', name: 'Is Between', takes: 'values', filters: [['gte', 'first'], ['lte', 'second']], onlyFor: 'notTimes' },
	{ value: 'isOn', name: 'Is On', takes: 'dates', filters: [['gte', 'first'], ['lte', 'first']], onlyFor: 'times' },
	{ value: 'isAfter', name: 'Is After', takes: 'dates', filters: [['gt', 'first']], onlyFor: 'times' },
	{ value: 'isOnOrAfter', name: 'Is On or After', takes: 'dates', filters: [['gte', 'first']], onlyFor: 'times' },
	{ value: 'isBefore', name: 'Is Before', takes: 'dates', filters: [['lt', 'first']], onlyFor: 'times' },
	{ value: 'isOnOrBefore', name: 'Is On or Before', takes: 'dates', filters: [['lte', 'first']], onlyFor: 'times' },
	{ value: 'isBetweenDates', name: 'Is Between', takes: 'dates', filters: [['gte', 'first'], ['lte', 'second']], onlyFor: 'times' },
	{ value: 'isEmpty', name: 'Is Empty', filters: [['empty', true]] },
	{ value: 'isNotEmpty', name: 'Is Not Empty', filters: [['empty', false]] },
];

export const isRange = ({ filters }: FilterOperator): boolean => filters.some(([, value]) => value === 'second');

const kindOfFiltered = ({ filters }: FilteredField): FieldKind =>
	(['is', 'gte', 'gt', 'lte', 'lt'] as const).map((comparison) => filters.get(comparison)?.kind).find(Boolean) ?? 'any';

/** Whether the values of the field are times, which are filtered by whole days. */
export const isInstant = (field: FilteredField): boolean => fieldKinds[kindOfFiltered(field)].type === 'instant';

/** Whether the field has operators for its type (dates, true or false) that replace the plain *Is*. */
export const hasTypedOperators = (field: FilteredField): boolean => comparedAs[fieldKinds[kindOfFiltered(field)].type] !== 'values';

export const isFilteredLink = ({ filters }: FilteredField): boolean => filters.get('is')?.target !== undefined;

/** A field of instants compared with a whole day, a half-open interval: after a day means from the start of the next day. */
export function wholeDayBound(comparison: Comparison): { comparison: Comparison; isNextDay: boolean } {
	if (comparison === 'gt') return { comparison: 'gte', isNextDay: true };
	if (comparison === 'lte') return { comparison: 'lt', isNextDay: true };
	return { comparison, isNextDay: false };
}

export function operatorsOf(field: FilteredField): FilterOperator[] {
	const { type, shape } = fieldKinds[kindOfFiltered(field)];
	const compared = comparedAs[type];
	const suits = {
		links: isFilteredLink(field), lists: shape === 'list', booleans: compared === 'booleans', times: compared === 'times', notTimes: compared !== 'times',
	};
	const isOffered = ([comparison, value]: FilterOperator['filters'][number]) => {
		const filter = field.filters.get(type === 'instant' ? wholeDayBound(comparison).comparison : comparison);
		return filter && (typeof value !== 'boolean' || isBooleanField(filter) || valueShape(filter) === 'open');
	};
	return filterOperators.filter(({ filters, onlyFor }) => (onlyFor === undefined || suits[onlyFor]) && filters.every(isOffered));
}
