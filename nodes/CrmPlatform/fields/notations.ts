import { getOrCreate } from '../base/maps';
import { exactnessProblem } from '../base/numbers';
import { isBlank, listIn } from '../values/blank';
import { parseMoment } from '../values/dates';
import { foldedText, trimmed, unaccentedText } from '../values/foldedText';
import { normalizedUnique, elementOf, isBooleanField, isNumeric, isPhoneField, isTimeField, valueShape } from './fieldKinds';
import { countryFrom, isCountry } from './countries';
import { externalId, type Field, FieldError, sourceId } from './field';
import { withCallingCode } from './phones';

/** How people and other systems write values, as the user has chosen; what is absent is written as in the API. */
export interface Notations {
	dates?: 'dayMonth' | 'monthDay' | 'excel' | undefined;
	/** `unclear` for a file whose user has not chosen: then `12.500` is refused, since it could be either. */
	numbers?: 'point' | 'comma' | 'unclear' | undefined;
	booleans?: 'words' | 'mark' | undefined;
	separator?: string | undefined;
	/** The country of phone numbers without a country code, as two letters. */
	phoneCountry?: string | undefined;
	countries?: 'names' | undefined;
	/** Whether texts such as `#N/A` are values; otherwise, they are refused as mistakes. */
	errorTexts?: 'written' | undefined;
	/** The value for the record's currency field, if it has one: an amount in another currency is refused. */
	currency?: { label: string; code: unknown } | undefined;
	/** The system that the values come from, such as `hubspot`: their IDs are its own. */
	source?: string | undefined;
	/** Values of choices and links, by what stands for them (folded). */
	valueMap?: ReadonlyMap<string, string> | undefined;
}

/**
 * The value in the notation of the API, which `apiValue` reads. Values in that notation stay as they are, except for
 * numbers: `1.250` means another number in each notation.
 *
 * @throws FieldError for a number in another or an unclear notation, for an amount whose currency would be lost, for a
 * country that is not clear, and for an ID that is none
 */
export function inApiNotation(field: Field, value: unknown, notations: Notations): unknown {
	if (isBlank(value)) return value;
	if (notations.source !== undefined && field.name === externalId.name) return idFromSource(field, value, notations.source);
	if (valueShape(field) === 'list') return listFrom(field, value, notations);
	const plain = fromValueMap(field, value, notations);
	if (isTimeField(field)) return dateFrom(plain, notations);
	if (typeof plain !== 'string') return plain;
	if (isNumeric(field)) return field.target === undefined ? numberFrom(field, plain, notations) : plain;
	if (isBooleanField(field)) return booleanFrom(plain, notations);
	if (notations.phoneCountry !== undefined && isPhoneField(field)) return withCallingCode(plain, notations.phoneCountry);
	return notations.countries === 'names' && isCountry(field) ? countryFrom(field, plain) : plain;
}

function idFromSource(field: Field, value: unknown, source: string): string {
	const problem = exactnessProblem(value);
	if (problem !== undefined) throw new FieldError(field, problem);
	const id = String(normalizedUnique(field, String(value)));
	return id.startsWith(`${source}:`) ? id : sourceId(source, id);
}

function listFrom(field: Field, value: unknown, notations: Notations): unknown {
	const { separator } = notations;
	const isSeparated = separator !== undefined && typeof value === 'string' && !value.trim().startsWith('[');
	// A whole cell may stand for several values, which commas separate.
	const mapped = isSeparated ? value : fromValueMap(field, value, notations);
	if (mapped !== value) return mapped;
	const values = isSeparated ? splitList(value, separator) : listIn(value);
	// Unlike an empty list, a text without values clears nothing.
	if (typeof value === 'string' && isBlank(values)) return '[]';
	return values.map((element) => inApiNotation(elementOf(field), element, notations));
}

/** Cells such as `"VIP","Blog"` have quotes of their own, which may contain the separator. */
function splitList(value: string, separator: string): string[] {
	const end = separator.replace('|', '\\|');
	const blanks = `(?:(?!${end})\\s)*`;
	const parts = value.matchAll(new RegExp(`(${blanks}"[^"]*"${blanks}|[^]*?)(?:${end}|$)`, 'g'));
	return [...parts].map(([, text = '']) => text.trim().replace(/^"(.*)"$/s, '$1').trim()).filter((text) => text !== '');
}

function fromValueMap(field: Field, value: unknown, { valueMap }: Notations): unknown {
	const isMapped = field.choices !== undefined || field.target !== undefined || isBooleanField(field);
	return (isMapped && typeof value === 'string' ? valueMap?.get(foldedText(value)) : undefined) ?? value;
}

const dateText = /^(\d{1,2})[./-]\s?(\d{1,2})[./-]\s?(\d{4})(?:,?\s+(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s*([ap])\.?m\.?)?)?$/i;

/** A year of two digits stays as it is, and is refused: its century is unknown. */
function dateFrom(value: unknown, { dates }: Notations): unknown {
	if (dates === undefined || typeof value === 'object') return value;
	const text = trimmed(String(value));
	// The days of 1905 look like years.
	const isYear = Number(text) >= 1900 && Number(text) <= 2100;
	if (dates === 'excel') return /^\d{2,6}(\.\d+)?$/.test(text) && Number(text) > 60 && !isYear ? excelDate(Number(text)) : value;
	const [all, first = '', second = '', year = '', hour, minute = '', seconds = '00', half] = dateText.exec(text) ?? [];
	if (all === undefined) return value;
	const [day, month] = dates === 'dayMonth' ? [first, second] : [second, first];
	const date = `${year}-${month.padStart(2, '0')}-${day.padStart(2, '0')}`;
	if (half !== undefined && (Number(hour) < 1 || Number(hour) > 12)) return value;
	const hours = half === undefined ? Number(hour) : (Number(hour) % 12) + (half.toLowerCase() === 'p' ? 12 : 0);
	const iso = hour === undefined ? date : `${date}T${String(hours).padStart(2, '0')}:${minute}:${seconds}`;
	// Otherwise, the error would have a date that nobody has written.
	return parseMoment(iso, 'utc') ? iso : value;
}

/** Days since the end of 1899. Excel counts a day in 1900 that did not exist, so earlier numbers stay as they are. */
function excelDate(days: number): string {
	const iso = new Date(Date.UTC(1899, 11, 30) + Math.round(days * 86_400) * 1000).toISOString();
	return Number.isInteger(days) ? iso.slice(0, 10) : iso.slice(0, 19);
}

const units = /(?<=^[+-]?)(?:\p{Sc}|[A-Z]{3})\s*|\s*(?:\p{Sc}|[A-Z]{3})$/gu;
const currencyCodes = new Set(Intl.supportedValuesOf('currency'));
/** Other letters may be a unit, such as thousands. */
const withoutCurrency = (unit: string): string => (/[A-Z]/.test(unit) && !currencyCodes.has(unit.trim()) ? unit : '');
const grouped = {
	point: { pattern: /^[+-]?(?:[1-9]\d{0,2}([,\s'’])\d{3}(?:\1\d{3})*|\d+)(?:\.\d+)?$/, grouping: /[,\s'’]/g, example: '1,234.56' },
	comma: { pattern: /^[+-]?(?:[1-9]\d{0,2}([.\s'’])\d{3}(?:\1\d{3})*|\d+)(?:,\d+)?$/, grouping: /[.\s'’]/g, example: '1.234,56' },
};

function numberFrom(field: Field, value: string, { numbers, currency }: Notations): unknown {
	if (numbers === undefined) return value;
	if (numbers === 'unclear') {
		if (!isUnclearNumber(value)) return value;
		throw new FieldError(field, `“${value}” is unclear: its point or comma could separate thousands or decimals. Choose Values In → Numbers Are`);
	}
	const number = numberIn(value, numbers);
	if (number === undefined) {
		throw new FieldError(field, `“${value}” is not a number such as ${grouped[numbers].example}, as chosen in Numbers Are`);
	}
	if (currency && currenciesIn(value).some((unit) => !isCurrency(unit, currency.code))) {
		const actual = isBlank(currency.code) ? 'has no value' : `is “${String(currency.code)}”`;
		throw new FieldError(field, `“${value}” has a currency, but ${currency.label} ${actual}. Map a column with this currency to ${currency.label}, or remove the sign`);
	}
	return number;
}

/** Whether a text such as `12.500` or `$3,000` is another number in each notation. */
export const isUnclearNumber = (text: string): boolean => {
	const [point, comma] = [numberIn(text, 'point'), numberIn(text, 'comma')];
	return point !== undefined && comma !== undefined && point !== comma;
};

/** The number in a text, without its currency; undefined if the text is not a number in the notation. */
function numberIn(value: string, notation: 'point' | 'comma'): string | undefined {
	const { pattern, grouping } = grouped[notation];
	const text = withMinus(value).replace(units, withoutCurrency).trim();
	return pattern.test(text) ? text.replace(grouping, '').replace(',', '.') : undefined;
}

/** Accounts write negative numbers in parentheses. */
const withMinus = (value: string): string => trimmed(value).replace(/^\((.+)\)$/, '-$1');

const currenciesIn = (value: string): string[] => (withMinus(value).match(units) ?? []).map((unit) => unit.trim());

/** Whether a sign or code may stand for a currency, as `$` for many. */
function isCurrency(unit: string, code: unknown): boolean {
	if (unit === code) return true;
	if (typeof code !== 'string' || !currencyCodes.has(code)) return false;
	return unit === getOrCreate(signs, code, () => {
		const format = new Intl.NumberFormat('en', { style: 'currency', currency: code, currencyDisplay: 'narrowSymbol' });
		return format.formatToParts(0).find(({ type }) => type === 'currency')?.value;
	});
}

const signs = new Map<string, string | undefined>();

const words = {
	true: new Set(['yes', 'y', 'ja', 'j', 'oui', 'si', 'sim', 'tak', 'wahr', 'vrai', 'verdadero', 'vero', 'on']),
	false: new Set(['no', 'n', 'nein', 'non', 'nao', 'nee', 'nie', 'falsch', 'faux', 'falso', 'off']),
};

function booleanFrom(value: string, { booleans }: Notations): unknown {
	const word = unaccentedText(trimmed(value));
	if (booleans === 'mark') return /^[x✓✔]$/.test(word) ? true : value;
	if (booleans !== 'words') return value;
	if (words.true.has(word)) return true;
	return words.false.has(word) ? false : value;
}
