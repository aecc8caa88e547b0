import { scalarsIn } from '../base/json';
import { trimmed } from '../values/foldedText';
import { type Field, FieldError } from './field';

/**
 * What spreadsheets in any language, and JavaScript, put in place of a value that they could not calculate or show:
 * capitals that end in an exclamation or question mark, translations of `#N/A`, or a cell full of `#`. A text that ends in
 * ` }}` was typed behind an expression, which n8n closes by itself.
 */
const errorText =
	/^\s*(#[¡¿]?\p{Lu}[\p{Lu}\d/_ ]*[!?]|#\p{Lu}[/.]\p{Lu}\.?|#(NV|YOK|SAKNAS|HIÁNYZIK|GETTING_DATA)|##+|(Err|Fehler|Erreur|Errore) ?: ?5\d\d|\[object \w+\]|[^{}]+\s\}\}|undefined|NaN|Invalid [Dd]ate(Time)?)\s*$/u;

/** Texts that stand for booleans, failed calculations and broken exports. */
const identifiesNothing = /^(true|false|null|undefined|nan|-?infinity|\[object \w+\])$/i;

/** A number as spreadsheets show one with many digits: several values may have been rounded to it. */
const roundedNumber = /^[+-]?\d([.,]\d+)?E\+\d+$/i;

/**
 * The value of a unique field without white space around it, and with composed accents: tables often differ in that, and
 * the CRM would get a second record.
 *
 * @throws FieldError if several records may have had other values that became this one
 */
export function normalizedUnique(field: Pick<Field, 'name' | 'label'>, value: unknown): unknown {
	if (typeof value !== 'string' && typeof value !== 'boolean') return value;
	const text = trimmed(String(value).normalize('NFC'));
	if (identifiesNothing.test(text)) {
		throw new FieldError(field, `“${text}” identifies no record: it looks like a mistake in the source. Correct it, or leave it empty`);
	}
	if (!roundedNumber.test(text)) return text;
	const problem = `“${text}” is a number that a spreadsheet has rounded, so it identifies no record`;
	throw new FieldError(field, `${problem}. Export the column as text, with all digits`);
}

/** @throws FieldError if a value, or one within it, is what a broken formula or expression leaves */
export function refuseErrorText(field: Field, value: unknown): void {
	const found = scalarsIn(value).find((text) => typeof text === 'string' && errorText.test(text));
	if (found === undefined) return;
	throw new FieldError(
		field,
		`“${String(found).trim()}” is the result of a broken formula or expression. Correct it where it comes from. If it is meant as text, choose Values In → Error Texts Are → Text.`,
	);
}
