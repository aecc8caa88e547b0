import { depthProblem, exactNumber, exactnessProblem, isDecimal } from '../base/numbers';
import { isBlank } from '../values/blank';
import { isWellFormed, notWellFormed } from './conversions';
import { clearsField } from './decideValue';
import type { Field } from './field';
import { FieldError } from './fieldError';
import { fieldKinds, valueShape } from './fieldKinds';

/**
 * Converts a value from a user or an earlier node into the value the service takes.
 *
 * Empty text becomes null, which clears the field; so does white space, except in a text that is not a link.
 *
 * @param zone IANA time zone of the workflow, for times without one
 * @throws FieldError if the value cannot fit the field
 */
export const apiValue = (field: Field, value: unknown, zone: string): unknown =>
	clearsField(field, value) ? null : writtenValue(field, value, zone);

/**
 * Converts a value that does not clear its field (`decideValue`). An unknown choice is sent unchanged, since the
 * service may have added it; a value that cannot fit the field is refused.
 *
 * @throws as `apiValue`
 */
export function writtenValue(field: Field, value: unknown, zone: string): unknown {
	const refuse = (problem: string | undefined) => {
		if (problem !== undefined) throw new FieldError(field, problem);
	};
	if (typeof value !== 'string') refuse(exactnessProblem(value));
	else if (!isWellFormed(value)) refuse(notWellFormed(value));
	const converted = fieldKinds[field.kind].convert(field, value, zone, writtenValue);
	// A text may be nested JSON.
	if (typeof value === 'string' && typeof converted === 'object') refuse(depthProblem(converted));
	return converted;
}

/** The value of a filter. In a URL, a number may have any number of digits, so it stays as it is. */
export function filterValue(field: Field, value: unknown, zone: string): unknown {
	const { kind, items } = field;
	const isListOfNumbers = valueShape(field) === 'list' && items !== undefined && fieldKinds[items].type === 'number';
	if (isListOfNumbers && !isBlank(value)) return fieldKinds[kind].convert(field, value, zone, filterValue);
	const isLong = typeof value === 'string' && isDecimal(value) && exactNumber(value) === undefined;
	return isLong && fieldKinds[kind].type === 'number' ? value.trim() : apiValue(field, value, zone);
}
