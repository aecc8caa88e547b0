import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../../base/json';
import type { CrmEvent } from '../../api/crmEvent';
import type { Query } from '../../api/http/path';
import { comparedBy, type Comparison } from '../../api/openapi/filteredFields';
import { unaccentedText } from '../../values/foldedText';
import { allCustomFields } from '../../fields/field';
import { farthestZone, namesZone } from '../../values/dates';

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
	if (comparison === 'is') return ![sought, ...sought.split(',')].some((alternative) => mayBeSame(text, alternative.trim()));
	if (comparison === 'contains') return !text.includes(sought);
	if (comparison === 'starts_with') return !text.startsWith(sought);
	const distance = distanceOf(String(value), expected);
	if (!distance) return false;
	const { by, tolerance } = distance;
	return { gte: by < -tolerance, gt: by <= -tolerance, lte: by > tolerance, lt: by >= tolerance }[comparison];
}

function mayBeSame(a: string, b: string): boolean {
	if (a === b) return true;
	const distance = distanceOf(a, b);
	// Texts differ; of a number and a time, the number may stand for the time.
	return distance ? Math.abs(distance.by) <= distance.tolerance : isTime(a) !== isTime(b) && [a, b].some(isNumber);
}

/**
 * By how much a number, or a time in milliseconds, is above another one; undefined if they are neither.
 *
 * @returns `tolerance`: the distance is certain only beyond it, because one of the times has no zone
 */
function distanceOf(a: string, b: string): { by: number; tolerance: number } | undefined {
	if (isNumber(a) && isNumber(b)) return { by: Number(a) - Number(b), tolerance: 0 };
	if (!isTime(a) || !isTime(b)) return undefined;
	return { by: timeOf(a) - timeOf(b), tolerance: isLocal(a) === isLocal(b) ? 0 : farthestZone };
}

const isNumber = (text: string): boolean => text.trim() !== '' && !Number.isNaN(Number(text));

const isTime = (text: string): boolean => /^\d{4}-\d\d-\d\d/.test(text) && !Number.isNaN(timeOf(text));

/** Whether a text is a time of day without a zone. */
const isLocal = (text: string): boolean => /[t ]\d\d/i.test(text) && !namesZone(text);

const timeOf = (text: string): number => Date.parse((isLocal(text) ? `${text.trim()}Z` : text).toUpperCase());
