import type { IDataObject } from 'n8n-workflow';

import { exactNumber } from '../base/numbers';
import { isObject } from '../base/json';
import { idField, type ConvertedValue, type Field } from '../fields/field';
import { fieldKinds } from '../fields/fieldKinds';
import { comparedBy, type Comparison } from '../api/openapi/filteredFields';
import { isBlank, isUnset } from '../values/blank';
import { farthestZone, namesZone, timeSpan } from '../values/dates';
import { unaccentedText } from '../values/foldedText';
import { isNo } from '../values/readers';
import { normalized, trimmed, valueIn } from '../fields/keys';
import { listNameOf, allValuesIn } from './presence';

/** A filter of the scope that records can be checked against. */
interface ScopedField {
	field: Field;
	comparison: Comparison;
	expectedValues: unknown[];
	/** Whether a record without the field has no value, as opposed to one that the list omits. */
	isGiven: boolean;
}

/**
 * Finds the filters of the scope that records can be checked against.
 *
 * @param recordFields the names of the members of records; empty if the service does not describe them
 */
export function scopedFields(scope: ConvertedValue[], fields: Field[], recordFields: ReadonlySet<string>): ScopedField[] {
	return scope.flatMap(({ field: filter, converted: filterValue }): ScopedField[] => {
		const { name, comparison } = comparedBy(filter.name);
		const knownField = name === 'ids' ? idField : fields.find((candidate) => candidate.name === name);
		const path = name.split(/[.[\]]+/).filter((part) => part !== '');
		const field = knownField ?? (recordFields.has(path[0] ?? '') ? { ...filter, name, path } : undefined);
		if (!field || isObject(filterValue)) return [];
		// Properties of the filter's values apply if the field itself does not define them.
		const isAnyCase = /case does not matter|case.insensitive/i.test(filter.description);
		const compared = isAnyCase && !field.lowerCase ? { ...field, lowerCase: [''] } : field;
		return [{ field: compared, comparison, expectedValues: [filterValue].flat(), isGiven: recordFields.has(field.path[0] ?? '') }];
	});
}

/** The members of a record that decide whether it is in scope. */
export const namesOfScope = (scoped: ScopedField[], recordFields: ReadonlySet<string>): string[] =>
	scoped.flatMap(({ field }) => [field.path[0] ?? '', ...(recordFields.has(listNameOf(field)) ? [listNameOf(field)] : [])]);

/**
 * Prepares a check of records that finds those outside the scope, for example because the service ignores the filters.
 *
 * @param records all records that were read with the scope
 * @returns a function that returns why a record is outside; undefined if it is in scope, as far as its fields show
 */
export function scopeCheck(records: readonly IDataObject[], scoped: ScopedField[]): (record: IDataObject) => string | undefined {
	const checkableFields = scoped.filter(({ field, isGiven }) => isGiven || records.some((record) => valueIn(record, field) !== undefined));
	return (record) => {
		const broken = checkableFields.find((scopedField) => !isInScope(record, scopedField));
		return broken && outside(broken.field, String(record.id), valueIn(record, broken.field));
	};
}

function isInScope(record: IDataObject, { field, comparison, expectedValues }: ScopedField): boolean {
	const entries = allValuesIn(record, field).flat().filter((entry) => !isUnset(entry));
	const values = entries.map((entry) => (isObject(entry) ? (entry.id ?? entry.value) : entry)).flat();
	// A boolean that was never set counts as false.
	if (comparison === 'is' && expectedValues.every((expected) => typeof expected === 'boolean')) {
		return expectedValues.includes(values.some((value) => !isNo(value)));
	}
	if (comparison === 'empty') return expectedValues.every((expected) => isNo(expected) === values.length > 0);
	// Objects without an id or a value cannot be compared.
	return values.some((value) => value === undefined || expectedValues.some((expected) => meets(field, comparison, value, expected)));
}

function meets(field: Field, comparison: Comparison, value: unknown, expected: unknown): boolean {
	if (comparison === 'contains') return plain(value).includes(plain(expected));
	if (comparison === 'starts_with') return plain(value).startsWith(plain(expected));
	const [valueSpan, expectedSpan] = [spanOf(field, value), spanOf(field, expected)];
	if (!valueSpan || !expectedSpan) {
		const isSameChoice = field.choices !== undefined && plain(value) === plain(expected);
		return comparison !== 'is' || text(field, value) === text(field, expected) || isSameChoice;
	}
	switch (comparison) {
		case 'is':
			return valueSpan.from <= expectedSpan.to && valueSpan.to >= expectedSpan.from;
		case 'gte':
			return valueSpan.to >= expectedSpan.from;
		case 'gt':
			return valueSpan.to > expectedSpan.from;
		case 'lte':
			return valueSpan.from <= expectedSpan.to;
		case 'lt':
			return valueSpan.from < expectedSpan.to;
		default:
			return true;
	}
}

/** Reads a number, or the time that a value may stand for, as a span; undefined for texts. */
function spanOf({ kind }: Field, value: unknown): { from: number; to: number } | undefined {
	const { order } = fieldKinds[kind];
	const number = order && exactNumber(String(value));
	if (order !== 'day' && order !== 'instant') return number === undefined ? undefined : { from: number, to: number };
	// The number is in seconds since 1970 if it would mean a time before 1973 in milliseconds.
	const isInSeconds = number !== undefined && number > 1e8 && number < 1e11;
	const span = timeSpan(isInSeconds ? number * 1000 : value, 'utc');
	const isLocal = typeof value === 'string' && number === undefined && !namesZone(value);
	return span && isLocal ? { from: span.from - farthestZone, to: span.to + farthestZone } : span;
}

const text = (field: Field, value: unknown): string => trimmed(String(normalized(value, field, '')));

const plain = (value: unknown): string => unaccentedText(String(value)).trim();

const outside = ({ label }: Field, id: string, value: unknown) =>
	`Records in Scope: the CRM returned record ${id}, whose ${label} is ${isBlank(value) ? 'empty' : `“${String(isObject(value) ? JSON.stringify(value) : value).slice(0, 100)}”`}, which the filter excludes. Choose another filter, and report it to the CRM’s support.`;
