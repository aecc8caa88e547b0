import { isPlainObject } from '../api/http/ownMembers';
import { isBlank, withoutBlanks } from '../values/blank';
import type { Field } from '../fields/field';
import { isBlankFor, isCleared, isEmptyListText } from '../fields/apiValue';

/** A value of an item, evaluated and not converted. */
export interface MappedValue {
	field: Field;
	value: unknown;
	origin: ValueOrigin;
}

/** Where a value was mapped. The meaning of a blank depends on it. */
export type ValueOrigin =
	/** A row of the form, a picked record, or a member of the JSON. */
	| 'chosen'
	/** A row that an AI agent's model fills in: it gives empty text for a field it knows nothing about. */
	| 'model'
	/** The input item, with the option Empty Cells. */
	| 'cellThatLeaves'
	| 'cellThatClears';

/** What happens with one value. */
export type ValueDecision =
	| { action: 'write'; value: unknown }
	| { action: 'clear' }
	/** `neverCleared`: a new record has nothing to clear. */
	| { action: 'skip'; reason: 'blank' | 'undefined' | 'neverCleared' };

/**
 * Decides whether a value is written, clears its field or leaves it as it is: the table under *Fields* in
 * docs/writing.md. A row of the form that was left empty does not come here (`isUnfilled`).
 *
 * @param nulls what clearing a field does in this operation: `clear` sends null, `skip` sends nothing
 * @throws Error in the user's words where one blank would clear all custom fields
 */
export function decideValue({ field, value, origin }: MappedValue, nulls: 'clear' | 'skip'): ValueDecision {
	const clear: ValueDecision = nulls === 'clear' ? { action: 'clear' } : { action: 'skip', reason: 'neverCleared' };
	const blank: ValueDecision = { action: 'skip', reason: 'blank' };
	switch (origin) {
		case 'cellThatLeaves': {
			// A list with only an object of blanks is blank.
			const [left] = isPlainObject(value) ? (withoutBlanks([value]) as unknown[]) : [value];
			return left === undefined || isBlankFor(field, value) ? blank : { action: 'write', value: left };
		}
		case 'cellThatClears':
			if (field.name === 'custom_fields' && isBlank(value)) throw new Error(clearsAllCustom);
			return isBlankFor(field, value) ? clear : { action: 'write', value };
		case 'model':
			return value !== null && isBlankFor(field, value) ? blank : decideValue({ field, value, origin: 'chosen' }, nulls);
		case 'chosen':
			if (value === undefined) return { action: 'skip', reason: 'undefined' };
			if (isEmptyListText(field, value)) return blank;
			return isCleared(field, value) ? clear : { action: 'write', value };
	}
}

/** Whether a row of the form was left empty: then it maps nothing, whatever its field. */
export const isUnfilled = (stored: unknown): boolean => isBlank(stored);

const clearsAllCustom = 'Custom Fields: the cell is empty, which would clear every custom field of the record, so nothing was written. Remove the column, or use one column for each custom field.';
