import { isObject, scalarsIn } from '../base/json';
import { ownMember } from '../base/ownMembers';
import { isBlank } from '../values/blank';
import { trimmed } from '../values/foldedText';
import { oneOf } from './conversions';
import { type Field, matchesPattern } from './field';
import { FieldError } from './fieldError';
import { fieldKinds, valueKind, valueShape } from './fieldKinds';

/**
 * Why the service would refuse a value, as far as its description says.
 *
 * @param value as it would be sent
 * @returns a sentence that begins with the field's label; undefined if the value is acceptable
 */
export function whyRefused(field: Field, value: unknown): string | undefined {
	const problem = valueProblem(field, value);
	return problem === undefined ? undefined : `${field.label}: ${problem}`;
}

/** The same sentence without the label, which a FieldError adds. */
export function valueProblem(field: Field, value: unknown): string | undefined {
	const shape = valueShape(field);
	if (isBlank(value) || shape === 'open') return undefined;
	if (shape === 'object') return Array.isArray(value) ? memberProblem(field, value) : undefined;
	const values: unknown[] = shape === 'list' && Array.isArray(value) ? value : [value];
	const { maxLength = Infinity } = field;
	for (const element of values) {
		const expectation = expectationOf(field, element);
		if (expectation !== undefined) return `“${String(element).slice(0, maxQuoted)}” is not ${expectation}.`;
	}
	const tooLong = values.map((element) => (typeof element === 'string' ? [...element].length : 0)).find((length) => length > maxLength);
	return tooLong === undefined ? undefined : `the text is too long. It has ${tooLong} characters, and the maximum is ${maxLength}.`;
}

/** Why the service would refuse an object of a list, if it would refuse one. */
function memberProblem({ members = [] }: Field, objects: unknown[]): string | undefined {
	const checked = objects
		.filter((object) => isObject(object))
		.flatMap((object) => members.map((member) => [member, ownMember(object, member.name)] as const));
	const empty = checked.find(([{ required }, value]) => required && isBlank(value));
	if (empty) return `${empty[0].label} is empty in one of the entries. Enter a value, or remove the entry.`;
	return checked.map(([member, value]) => valueProblem(member, value)).find((problem) => problem !== undefined);
}

/** Maximum characters of a wrong value in the sentence. */
const maxQuoted = 100;

/** What the description expects instead of the value; undefined if the value conforms. */
function expectationOf(field: Field, value: unknown): string | undefined {
	const { choices, isOpen, format = '' } = field;
	const kind = valueKind(field);
	if (choices && !isOpen) return choices.some((choice) => choice.value === value) ? undefined : oneOf(choices);
	const requirement = kind && fieldKinds[kind].onlyValid;
	if (requirement) return requirement.isValid(value) ? undefined : requirement.description;
	if (typeof value !== 'string') return undefined;
	if (matchesPattern(field, value) === false) return `in the format that the CRM accepts${descriptionOf(field)}`;
	const rule = formats[format];
	return rule && !rule.isValid(value) ? rule.description : undefined;
}

const descriptionOf = ({ description }: Field): string => (description === '' ? '' : ` (${description.replace(/\.$/, '')})`);

const formats: Record<string, { isValid(value: string): boolean; description: string } | undefined> = {
	// A quoted name may contain any character (RFC 5321, section 4.1.2).
	email: { isValid: (value) => /^("[^"]*"|[^\s@"]+)@[^\s@]+$/.test(value), description: 'an email address' },
	uri: { isValid: (value) => URL.canParse(value), description: 'a web address such as https://example.com' },
	hostname: { isValid: (value) => /^[^\s/@:.]+(\.[^\s/@:.]+)*$/.test(value), description: 'a domain such as example.com' },
};

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
