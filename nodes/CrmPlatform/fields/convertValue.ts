import { scalarsIn } from '../base/json';
import { depthProblem, exactnessProblem } from '../base/numbers';
import { isWellFormed, notWellFormed } from './conversions';
import { clearsField, decideValue, type EvaluatedValue, type ValueDecision, type WhenCleared } from './decideValue';
import { type Field, FieldError, fieldErrorOr } from './field';
import { elementOf, fieldKinds } from './fieldKinds';
import { inApiNotation, type Notations } from './notations';
import { refuseErrorText, normalizedUnique } from './sourceMistakes';

/** How the values of a run are converted. */
export interface Conversion {
	/** Undefined if all are written as in the API. */
	notations: Notations | undefined;
	whenCleared: WhenCleared;
	/** IANA time zone of the workflow, for times without one. */
	zone: string;
}

/**
 * The way of each value from an item to the service: its notation becomes that of the API; it is decided whether it is
 * written; it is converted as its kind requires; and what a broken formula leaves is refused. Names of records are
 * replaced by ids afterwards, for all items together.
 *
 * @returns the value that the service takes, null to clear its field; or why none is sent
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

/** The value that the service takes, of one in the notation of the API. @throws FieldError if it cannot be sent */
export function valueToSend(field: Field, value: unknown, { notations, zone }: Pick<Conversion, 'notations' | 'zone'>): unknown {
	const converted = apiValue(field, field.unique ? normalizedUnique(field, value) : value, zone);
	if (notations?.errorTexts !== 'written') refuseErrorText(field, converted);
	return converted;
}

/**
 * Converts a value from a user or an earlier node into the value the service takes.
 *
 * A blank becomes null, which clears the field. An unknown choice is sent unchanged, since the service may have added it.
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
	const cut = scalarsIn(converted).find((text) => typeof text === 'string' && !isWellFormed(text));
	if (cut !== undefined) refuse(notWellFormed(String(cut)));
	return converted;
}
