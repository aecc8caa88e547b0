import type { IDataObject } from 'n8n-workflow';

import { exactNumber } from '../api/http/numbers';
import { isObject } from '../api/http/json';
import { idField, type Field } from '../fields/field';
import { fieldKinds } from '../fields/fieldKinds';
import { comparedBy, type Comparison } from '../api/openapi/filteredFields';
import { isBlank, isNo, isUnset } from '../values/blank';
import { farthestZone, timeSpan } from '../values/dates';
import { normalized, trimmed, valueIn } from '../fields/keys';
import type { FieldValue } from '../mapping/objectFields';
import { listNameOf, allValuesIn } from './presence';

/** A filter of the scope that records can be checked against. */
interface ScopedField {
	field: Field;
	comparison: Comparison;
	wanted: unknown[];
	/** Whether a record without the field has no value, as opposed to one that the list omits. */
	isGiven: boolean;
}

/**
 * The filters of the scope that records can be checked against.
 *
 * @param recordFields the names that records have; none where the service does not say
 */
export function scopedFields(scope: FieldValue[], fields: Field[], recordFields: ReadonlySet<string>): ScopedField[] {
	return scope.flatMap(([filter, given]): ScopedField[] => {
		const { name, comparison } = comparedBy(filter.name);
		const own = name === 'ids' ? idField : fields.find((one) => one.name === name);
		const path = name.split(/[.[\]]+/).filter((part) => part !== '');
		const field = own ?? (recordFields.has(path[0] ?? '') ? { ...filter, name, path } : undefined);
		if (!field || isObject(given)) return [];
		// Properties of the filter's values apply where the field itself does not define them.
		const isAnyCase = /case does not matter|case.insensitive/i.test(filter.description);
		const compared = isAnyCase && !field.lowerCase ? { ...field, lowerCase: [''] } : field;
		return [{ field: compared, comparison, wanted: [given].flat(), isGiven: recordFields.has(field.path[0] ?? '') }];
	});
}

/** The members of a record that decide whether it is in scope. */
export const namesOfScope = (scoped: ScopedField[], recordFields: ReadonlySet<string>): string[] =>
	scoped.flatMap(({ field }) => [field.path[0] ?? '', ...(recordFields.has(listNameOf(field)) ? [listNameOf(field)] : [])]);

/**
 * Why a record is outside the scope, for example because the service ignores its filters.
 *
 * @param records all that were read with it
 * @returns reads a record; undefined for one that is in scope, as far as that can be told
 */
export function outsiders(records: readonly IDataObject[], scoped: ScopedField[]): (record: IDataObject) => string | undefined {
	const told = scoped.filter(({ field, isGiven }) => isGiven || records.some((record) => valueIn(record, field) !== undefined));
	return (record) => {
		const broken = told.find((one) => !isLetThrough(record, one));
		return broken && outside(broken.field, String(record.id), valueIn(record, broken.field));
	};
}

function isLetThrough(record: IDataObject, { field, comparison, wanted }: ScopedField): boolean {
	const values = allValuesIn(record, field).flat().flatMap((one) => (isUnset(one) ? [] : isObject(one) ? (one.id ?? one.value) : one));
	// A field that was never set is not true.
	if (comparison === 'is' && wanted.every((one) => typeof one === 'boolean')) return wanted.includes(values.some((one) => !isNo(one)));
	if (comparison === 'empty') return wanted.every((one) => isNo(one) === values.length > 0);
	// Objects without an id or a value cannot be compared.
	return values.some((value) => value === undefined || wanted.some((one) => meets(field, comparison, value, one)));
}

function meets(field: Field, comparison: Comparison, value: unknown, wanted: unknown): boolean {
	if (comparison === 'contains') return plain(value).includes(plain(wanted));
	if (comparison === 'starts_with') return plain(value).startsWith(plain(wanted));
	const [own, other] = [spanOf(field, value), spanOf(field, wanted)];
	if (!own || !other) return comparison !== 'is' || text(field, value) === text(field, wanted) || (field.choices !== undefined && plain(value) === plain(wanted));
	switch (comparison) {
		case 'is':
			return own.from <= other.to && own.to >= other.from;
		case 'gte':
			return own.to >= other.from;
		case 'gt':
			return own.to > other.from;
		case 'lte':
			return own.from <= other.to;
		case 'lt':
			return own.from < other.to;
		default:
			return true;
	}
}

/** A number, or the time that a value may stand for; undefined for texts. */
function spanOf({ kind }: Field, value: unknown): { from: number; to: number } | undefined {
	const { order } = fieldKinds[kind];
	const number = order && exactNumber(String(value));
	if (order !== 'day' && order !== 'instant') return number === undefined ? undefined : { from: number, to: number };
	// Seconds since 1970 if milliseconds would mean a time before 1973.
	const isInSeconds = number !== undefined && number > 1e8 && number < 1e11;
	const span = timeSpan(isInSeconds ? number * 1000 : value, 'utc');
	const isLocal = typeof value === 'string' && number === undefined && !/(z|[+-]\d\d(:?\d\d)?)$/i.test(value.trim());
	return span && isLocal ? { from: span.from - farthestZone, to: span.to + farthestZone } : span;
}

const text = (field: Field, value: unknown): string => trimmed(String(normalized(value, field, '')));

/** Without case and accents, which services ignore here. */
const plain = (value: unknown): string => String(value).normalize('NFKD').replace(/\p{M}/gu, '').trim().toLowerCase();

const outside = ({ label }: Field, id: string, value: unknown) =>
	`Records in Scope: the service returned record ${id}, whose ${label} is ${isBlank(value) ? 'empty' : `“${String(isObject(value) ? JSON.stringify(value) : value).slice(0, 100)}”`}, which the filter excludes. Choose another filter, and report it to the service’s support.`;
