import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../../base/json';
import type { CrmEvent } from '../../api/crmEvent';
import type { Query } from '../../api/http/path';
import { comparedBy, type Comparison } from '../../api/openapi/filteredFields';
import { unaccentedText } from '../../values/foldedText';
import { allCustomFields } from '../../fields/field';

/** The record before and after an event. */
export function statesOf({ type, data: { object, previous } }: CrmEvent): IDataObject[] {
	if (previous === null) {
		// Without previous values, the record may have had any.
		return type.endsWith('.created') || type.endsWith('.deleted') ? [object] : [object, {}];
	}
	const before = { ...object, ...previous };
	const [customValues, previousValues] = [object[allCustomFields], previous[allCustomFields]];
	if (isObject(customValues) && isObject(previousValues)) {
		before[allCustomFields] = { ...customValues, ...previousValues };
	}
	return [before, object];
}

/**
 * Whether a record certainly does not match the filters. A condition that only the service can check (a search,
 * a filter by a field that the record lacks) counts as a match.
 */
export function isOutside(record: IDataObject, filters: Query): boolean {
	return Object.entries(filters).some(([parameter, filterValue]) => {
		const { name, comparison } = comparedBy(parameter);
		const value = fieldOf(record, name);
		const expectedValues = [filterValue].flat().map(String);
		return value !== undefined && expectedValues.length > 0 && expectedValues.every((expected) => differs(value, comparison, expected));
	});
}

function fieldOf(record: IDataObject, name: string): unknown {
	if (Object.hasOwn(record, name)) return record[name];
	const [first = '', ...rest] = name.split('.');
	if (rest.length === 0 || !Object.hasOwn(record, first)) return undefined;
	const inner = record[first];
	return isObject(inner) ? (fieldOf(inner, rest.join('.')) ?? null) : undefined;
}

function differs(value: unknown, comparison: Comparison, expected: string): boolean {
	const isEmpty = value === null || value === '' || (Array.isArray(value) && value.length === 0);
	if (comparison === 'empty') return isEmpty !== (expected === 'true');
	if (isEmpty) return true;
	if (Array.isArray(value)) return value.every((entry) => differs(entry, comparison, expected));
	if (typeof value === 'object') return false;
	const [text, sought] = [unaccentedText(String(value)), unaccentedText(expected)];
	if (comparison === 'is') return !sought.split(',').some((alternative) => isSame(text, alternative.trim())) && !isSame(text, sought);
	if (comparison === 'contains') return !text.includes(sought);
	if (comparison === 'starts_with') return !text.startsWith(sought);
	const order = compared(String(value), expected);
	if (order === undefined) return false;
	return !{ gte: order >= 0, gt: order > 0, lte: order <= 0, lt: order < 0 }[comparison];
}

const isSame = (a: string, b: string): boolean => a === b || compared(a, b) === 0;

/** Compares two values as numbers or instants; undefined if they are neither. */
function compared(a: string, b: string): number | undefined {
	if (a.trim() === '' || b.trim() === '') return undefined;
	const numbers = Number(a) - Number(b);
	if (!Number.isNaN(numbers)) return numbers;
	if (![a, b].every((text) => /^\d{4}-\d\d-\d\d/.test(text))) return undefined;
	const instants = Date.parse(a) - Date.parse(b);
	return Number.isNaN(instants) ? undefined : instants;
}
