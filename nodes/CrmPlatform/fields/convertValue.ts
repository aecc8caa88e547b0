import { parsedValue, scalarsIn } from '../base/json';
import { depthProblem, exactnessProblem } from '../base/numbers';
import { isPlainObject } from '../base/ownMembers';
import { hasOnlyUndefined, isBlank, withoutBlanks } from '../values/blank';
import {
	checkMembers, isWellFormed, normalizedUnique, notWellFormed, refuseErrorText, elementOf, fieldKinds, isBlankFor, mayBeObjects, valueShape,
} from './fieldKinds';
import { allCustomFields, type ConvertedValue, type Field, FieldError, fieldErrorOr, type InputValue } from './field';
import { inApiNotation, type Notations } from './notations';

/** A value of an item, evaluated but not yet converted. */
export interface EvaluatedValue extends InputValue, Pick<ConvertedValue, 'newNamesOf'> {
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

export interface Conversion {
	/** Undefined if all are written as in the API. */
	notations: Notations | undefined;
	whenCleared: WhenCleared;
	/** IANA time zone of the workflow, for times without one. */
	zone: string;
}

/**
 * Brings a value into the notation of the API, decides whether it is written, converts it as its kind requires, and refuses what a
 * broken formula leaves. Names of records are replaced by ids afterwards, for all items together.
 *
 * @returns null to clear the field; or why no value is sent
 * @throws FieldError if it cannot be sent
 */
export function convertValue(
	{ field, value, givenBy }: EvaluatedValue,
	{ notations, whenCleared, zone }: Conversion,
): Exclude<ValueDecision, { do: 'clear' }> {
	const plain = notations ? inApiNotation(field, value, notations) : value;
	const decision = decideValue({ field, value: plain, givenBy }, whenCleared);
	if (decision.do === 'skip') return decision;
	return { do: 'write', value: decision.do === 'clear' ? null : valueToSend(field, decision.value, { notations, zone }) };
}

/** How the values of one record are converted: its amounts depend on its currency. @param currency the field for it */
export function withCurrency(values: EvaluatedValue[], conversion: Conversion, currency: Field | undefined): Conversion {
	const { notations } = conversion;
	// Unclear numbers are refused whatever their currency.
	if (!currency || notations?.numbers === undefined || notations.numbers === 'unclear') return conversion;
	const evaluated = values.find(({ field }) => field.name === currency.name);
	const converted = evaluated && fieldErrorOr(() => convertValue(evaluated, conversion));
	const code = converted && 'value' in converted ? converted.value : null;
	return { ...conversion, notations: { ...notations, currency: { label: currency.label, code } } };
}

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
			if (lacksValue(field, value)) return blank;
			if (field.name === allCustomFields && isBlank(value)) throw clearsAllCustom();
			return isBlankFor(field, value) ? clear : { do: 'write', value };
		case 'model':
			if (value !== null) return decideValue({ field, value, givenBy: 'cellThatLeaves' }, whenCleared);
			if (field.name === allCustomFields && whenCleared === 'clear') throw clearsAllCustom();
			return clear;
		case 'form':
			if (lacksValue(field, value)) return { do: 'skip', reason: 'undefined' };
			// A text such as `[]` or ` , ` is a list without values: unlike an empty list, it clears nothing.
			if (typeof value === 'string' && !isBlank(value) && isBlankFor(field, value)) return blank;
			// Where nothing is cleared, an empty list of a field that takes lists or JSON says nothing.
			if (whenCleared === 'skip' && Array.isArray(value) && isBlankFor(field, value) && ['list', 'object'].includes(valueShape(field))) return clear;
			return clearsField(value) ? clear : { do: 'write', value };
	}
}

/** Whether an expression has returned nothing, or a list of nothing for a field that may have lists: a mistyped path clears no list. */
export const lacksValue = (field: Field, value: unknown): boolean =>
	value === undefined || (Array.isArray(value) && hasOnlyUndefined(value) && valueShape(field) !== 'single');

/** Whether a value clears its field. An empty list clears a list, and is written. */
const clearsField = (value: unknown): boolean => isBlank(value) && !Array.isArray(value);

const clearsAllCustom = (): FieldError => new FieldError(
	{ label: 'Custom Fields' },
	'the value is empty, which would clear every custom field of the record, so nothing was written. Leave it out, or use one value for each custom field.',
);

/** The value that the service takes, of one in the notation of the API. @throws FieldError if it cannot be sent */
export function valueToSend(field: Field, value: unknown, { notations, zone }: Pick<Conversion, 'notations' | 'zone'>): unknown {
	const converted = apiValue(field, field.unique ? normalizedUnique(field, value) : value, zone);
	if (notations?.errorTexts !== 'written') refuseErrorText(field, converted);
	return converted;
}

/**
 * The value that the service takes: null for a blank, which clears; an unknown choice stays, since the service may have added it.
 *
 * @throws FieldError if the value cannot fit the field
 */
export function apiValue(field: Field, value: unknown, zone: string): unknown {
	if (clearsField(value)) return null;
	const refuse = (problem: string | undefined) => {
		if (problem !== undefined) throw new FieldError(field, problem);
	};
	if (typeof value !== 'string') refuse(exactnessProblem(value));
	const { shape, convert } = fieldKinds[field.kind];
	const read = convert(field, value, zone);
	const converted = shape === 'list' ? (read as unknown[]).map((element) => apiValue(elementOf(field), element, zone)) : read;
	// A text may be nested JSON.
	if (typeof value === 'string' && typeof converted === 'object') refuse(depthProblem(converted));
	checkMembers(field, converted);
	const cut = scalarsIn(converted).find((text) => typeof text === 'string' && !isWellFormed(text));
	if (cut !== undefined) refuse(notWellFormed(String(cut)));
	return converted;
}
