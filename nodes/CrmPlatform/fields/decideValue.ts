import { parsedValue } from '../base/json';
import { isPlainObject } from '../base/ownMembers';
import { isBlank, withoutBlanks } from '../values/blank';
import { allCustomFields, FieldError, type InputValue } from './field';
import { isBlankFor, mayBeObjects, valueShape } from './fieldKinds';

/** A value of an item, evaluated but not yet converted. */
export interface EvaluatedValue extends InputValue {
	givenBy: GivenBy;
}

/** Who gave a value. The meaning of a blank depends on it. */
export type GivenBy =
	/** A row of the form, a picked record, or a member of the JSON. */
	| 'form'
	/** A row or JSON that an AI model fills in: it passes empty text for a field it knows nothing about, so only null clears. */
	| 'model'
	/** The input item, with the option Empty Cells. */
	| 'cellThatLeaves'
	| 'cellThatClears';

/**
 * What clearing a field does in an operation: `clear` sends null, `skip` sends nothing, since a new record has nothing
 * to clear, and the fields of an action such as *Lose* say what to do, not what to erase.
 */
export type WhenCleared = 'clear' | 'skip';

/** What happens with one value. */
export type ValueDecision =
	| { do: 'write'; value: unknown }
	| { do: 'clear' }
	| { do: 'skip'; reason: 'blank' | 'undefined' | 'neverCleared' };

/**
 * Decides whether a value is written, clears its field or leaves it as it is: the table under *Fields* in
 * docs/guide/write-records.md. A row of the form that was left empty does not come here (`storedFields`), and the blanks
 * within a list or an object are left to its conversion (`fieldKinds`), except in a cell that leaves its
 * field as it is, and in what a model fills in.
 *
 * @throws FieldError if one blank would clear all custom fields
 */
export function decideValue({ field, value, givenBy }: EvaluatedValue, whenCleared: WhenCleared): ValueDecision {
	const clear: ValueDecision = whenCleared === 'clear' ? { do: 'clear' } : { do: 'skip', reason: 'neverCleared' };
	const blank: ValueDecision = { do: 'skip', reason: 'blank' };
	switch (givenBy) {
		case 'cellThatLeaves': {
			const content = mayBeObjects(field) ? parsedValue(value) : value;
			// A list with only an object of blanks is blank.
			const [cleaned] = isPlainObject(content) ? (withoutBlanks([content], 'drop') as unknown[]) : [value];
			return cleaned === undefined || isBlankFor(field, value) ? blank : { do: 'write', value: cleaned };
		}
		case 'cellThatClears':
			if (whenCleared === 'skip') {
				const decision = decideValue({ field, value, givenBy: 'cellThatLeaves' }, whenCleared);
				return decision.do === 'skip' ? clear : decision;
			}
			if (field.name === allCustomFields && isBlank(value)) throw clearsAllCustom();
			return isBlankFor(field, value) ? clear : { do: 'write', value };
		case 'model':
			if (value !== null) return decideValue({ field, value, givenBy: 'cellThatLeaves' }, whenCleared);
			if (field.name === allCustomFields && whenCleared === 'clear') throw clearsAllCustom();
			return clear;
		case 'form':
			if (value === undefined) return { do: 'skip', reason: 'undefined' };
			// A text such as `[]` or ` , ` is a list without values: unlike an empty list, it clears nothing.
			if (typeof value === 'string' && !isBlank(value) && isBlankFor(field, value)) return blank;
			// Where nothing is cleared, an empty list of a field that takes lists or JSON says nothing.
			if (whenCleared === 'skip' && Array.isArray(value) && isBlankFor(field, value) && ['list', 'object'].includes(valueShape(field))) return clear;
			return clearsField(value) ? clear : { do: 'write', value };
	}
}

/** Whether a value clears its field. An empty list clears a list, and is written. */
export const clearsField = (value: unknown): boolean => isBlank(value) && !Array.isArray(value);

const clearsAllCustom = (): FieldError => new FieldError(
	{ label: 'Custom Fields' },
	'the value is empty, which would clear every custom field of the record, so nothing was written. Leave it out, or use one value for each custom field.',
);
