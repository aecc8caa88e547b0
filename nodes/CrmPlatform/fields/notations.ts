import { getOrCreate } from '../base/maps';
import { exactnessProblem } from '../base/numbers';
import { isBlank } from '../values/blank';
import { parseMoment } from '../values/dates';
import { foldedText, trimmed, unaccentedText } from '../values/foldedText';
import { uniqueValue } from './checks';
import { matchesPattern, phoneIn } from './conversions';
import { externalId, sourceId, type Field } from './field';
import { FieldError } from './fieldError';
import { elementOf, isBooleanField, isNumeric, isPlainText, isTimeField, valueShape } from './fieldKinds';

/** How people and other systems write values, as the user has chosen; what is absent is written as in the API. */
export interface Notations {
	dates?: 'dayMonth' | 'monthDay' | 'excel' | undefined;
	numbers?: 'point' | 'comma' | undefined;
	booleans?: 'words' | 'mark' | undefined;
	/** What separates the values of a list. */
	separator?: string | undefined;
	/** The country of phone numbers without a country code, as two letters. */
	phoneCountry?: string | undefined;
	countries?: 'names' | undefined;
	/** Whether texts such as `#N/A` are values; otherwise, they are refused as mistakes. */
	errorTexts?: 'written' | undefined;
	/** The system that the values come from, such as `hubspot`: their IDs are its own. */
	source?: string | undefined;
	/** Values of choices and links, by what stands for them (folded). */
	valueMap?: ReadonlyMap<string, string> | undefined;
}

/**
 * The value in the notation of the API, which `apiValue` reads. Values in that notation stay as they are, except for
 * numbers: `1.250` means another number in each notation.
 *
 * @throws FieldError for a number in another notation, for a country that is not clear, and for an ID that is none
 */
export function inApiNotation(field: Field, value: unknown, notations: Notations): unknown {
	if (isBlank(value)) return value;
	if (notations.source !== undefined && field.name === externalId.name) return idFromSource(field, value, notations.source);
	if (valueShape(field) === 'list') {
		const { separator } = notations;
		const isSeparated = separator !== undefined && typeof value === 'string' && !value.trim().startsWith('[');
		const values = isSeparated ? splitList(value, separator) : value;
		if (!Array.isArray(values)) return fromValueMap(field, values, notations);
		return values.map((element) => inApiNotation(elementOf(field), element, notations));
	}
	const plain = fromValueMap(field, value, notations);
	if (isTimeField(field)) return dateFrom(plain, notations);
	if (typeof plain !== 'string') return plain;
	if (isNumeric(field)) return field.collection === undefined ? numberFrom(field, plain, notations) : plain;
	if (isBooleanField(field)) return booleanFrom(plain, notations);
	if (notations.phoneCountry !== undefined && isPhone(field)) return phoneFrom(plain, notations.phoneCountry);
	return notations.countries === 'names' && isCountry(field) ? countryFrom(field, plain) : plain;
}

/** An ID of another system becomes the external ID. */
function idFromSource(field: Field, value: unknown, source: string): string {
	const problem = exactnessProblem(value);
	if (problem !== undefined) throw new FieldError(field, problem);
	const id = String(uniqueValue(field, String(value)));
	return id.startsWith(`${source}:`) ? id : sourceId(source, id);
}

/** Cells such as `"VIP","Blog"` have quotes of their own. */
const splitList = (value: string, separator: string): string[] =>
	value
		.split(separator)
		.map((text) => text.trim().replace(/^"(.*)"$/, '$1').trim())
		.filter((text) => text !== '');

function fromValueMap(field: Field, value: unknown, { valueMap }: Notations): unknown {
	const isMapped = field.choices !== undefined || field.collection !== undefined || isBooleanField(field);
	return (isMapped && typeof value === 'string' ? valueMap?.get(foldedText(value)) : undefined) ?? value;
}

const dateText = /^(\d{1,2})[./-]\s?(\d{1,2})[./-]\s?(\d{4})(?:,?\s+(\d{1,2}):(\d{2})(?::(\d{2}))?(?:\s*([ap])\.?m\.?)?)?$/i;

/** A year of two digits stays as it is, and is refused: its century is unknown. */
function dateFrom(value: unknown, { dates }: Notations): unknown {
	if (dates === undefined || typeof value === 'object') return value;
	const text = trimmed(String(value));
	if (dates === 'excel') return /^\d{2,6}(\.\d+)?$/.test(text) && Number(text) > 60 ? excelDate(Number(text)) : value;
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

const currency = /(?<=^[+-]?)(?:\p{Sc}|[A-Z]{3})\s*|\s*(?:\p{Sc}|[A-Z]{3})$/gu;
const currencyCodes = new Set(Intl.supportedValuesOf('currency'));
/** Other letters may be a unit, such as thousands. */
const withoutCurrency = (unit: string): string => (/[A-Z]/.test(unit) && !currencyCodes.has(unit.trim()) ? unit : '');
const grouped = {
	point: { pattern: /^[+-]?(?:\d{1,3}(?:([,\s'’])\d{3}(?:\1\d{3})*)?|\d+)(?:\.\d+)?$/, decimal: '.', example: '1,234.56' },
	comma: { pattern: /^[+-]?(?:\d{1,3}(?:([.\s'’])\d{3}(?:\1\d{3})*)?|\d+)(?:,\d+)?$/, decimal: ',', example: '1.234,56' },
};

function numberFrom(field: Field, value: string, { numbers }: Notations): unknown {
	if (numbers === undefined) return value;
	const { pattern, decimal, example } = grouped[numbers];
	// Accounts write negative numbers in parentheses.
	const text = trimmed(value).replace(/^\((.+)\)$/, '-$1').replace(currency, withoutCurrency).trim();
	if (!pattern.test(text)) throw new FieldError(field, `“${value}” is not a number such as ${example}, as chosen in Numbers Are`);
	return text.replace(decimal === '.' ? /[,\s'’]/g : /[.\s'’]/g, '').replace(',', '.');
}

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

export const isPhone = (field: Field): boolean =>
	isPlainText(field) && matchesPattern(field, '+493012345678') === true && matchesPattern(field, 'DE') === false;

/** Calling codes (ITU-T E.164), and what is dialed in front of a number within the country. */
const callingCodes =
	'US:1:1 CA:1:1 DE:49:0 AT:43:0 CH:41:0 GB:44:0 IE:353:0 FR:33:0 BE:32:0 NL:31:0 LU:352 ES:34 PT:351 IT:39 DK:45 NO:47 SE:46:0 FI:358:0 IS:354 PL:48 CZ:420 SK:421:0 HU:36:06 SI:386:0 HR:385:0 RS:381:0 RO:40:0 BG:359:0 GR:30 CY:357 MT:356 TR:90:0 UA:380:0 EE:372 LV:371 LT:370:0 IL:972:0 AE:971:0 SA:966:0 EG:20:0 MA:212:0 ZA:27:0 NG:234:0 KE:254:0 IN:91:0 PK:92:0 BD:880:0 CN:86:0 HK:852 TW:886:0 JP:81:0 KR:82:0 SG:65 MY:60:0 TH:66:0 VN:84:0 ID:62:0 PH:63:0 AU:61:0 NZ:64:0 BR:55:0 AR:54:0 CL:56 CO:57 PE:51:0';
const dialing = new Map(callingCodes.split(' ').map((entry) => [entry.slice(0, 2), entry.slice(3).split(':')] as const));

export const phoneCountries: readonly string[] = [...dialing.keys()].sort();

/** Maximum digits of a number that is dialed within a country. Two short numbers have more. */
const maxNationalDigits = 13;

/** A number without its area code, and several numbers, stay as they are, and are refused. */
function phoneFrom(value: string, country: string): string {
	const [code = '', trunk] = dialing.get(country) ?? [];
	const { prefix, digits = '' } = phoneIn(value) ?? {};
	if (prefix === undefined || prefix === '+' || digits.length < 6) return value;
	if (prefix === '' && digits.length > maxNationalDigits) return value;
	if (code === '1') {
		const national = digits.length === 11 && digits.startsWith('1') ? digits.slice(1) : digits;
		return national.length === 10 ? `+1${national}` : value;
	}
	if (digits.startsWith('00')) return `+${digits.slice(2)}`;
	// It may have its calling code already; Italian mobile numbers begin with 39, too.
	const mayHaveCode = digits.startsWith(code) && digits.length >= (/^39[^0]/.test(digits) ? 11 : 10);
	if (trunk === undefined) return mayHaveCode ? value : `+${code}${digits}`;
	return digits.startsWith(trunk) ? `+${code}${digits.slice(trunk.length)}` : value;
}

export const isCountry = (field: Field): boolean => /country/i.test(field.path.at(-1) ?? '') && matchesPattern(field, 'DE') === true;

/** The languages in which the names of countries are known. */
const languages = ['en', 'de', 'fr', 'es', 'it', 'pt', 'nl', 'pl', 'sv', 'da', 'nb', 'fi', 'cs', 'hu', 'ro', 'tr', 'el', 'ru', 'uk', 'ja', 'zh', 'ko', 'ar'];
const shortNames = 'CONGO:CD IVORY COAST:CI BURMA:MM MACEDONIA:MK SWAZILAND:SZ RUSSIAN FEDERATION:RU THE NETHERLANDS:NL USA:US UNITED STATES OF AMERICA:US UK:GB GREAT BRITAIN:GB ENGLAND:GB HOLLAND:NL UAE:AE CZECH REPUBLIC:CZ TURKEY:TR';

let codesByName: Map<string, Set<string>> | undefined;

/** The codes of countries by their names in CLDR, which the runtime has, and by the codes themselves. */
function countryCodes(): Map<string, Set<string>> {
	if (codesByName) return codesByName;
	const found = new Map<string, Set<string>>();
	const add = (name: string, code: string) => getOrCreate(found, lettersOf(name), () => new Set<string>()).add(code);
	const letters = [...'ABCDEFGHIJKLMNOPQRSTUVWXYZ'];
	const codes = letters.flatMap((first) => letters.map((second) => first + second)).filter((code) => !notCountries.has(code));
	for (const language of languages) {
		for (const style of ['long', 'short'] as const) {
			const names = new Intl.DisplayNames([language], { type: 'region', fallback: 'none', style });
			for (const code of codes) {
				const name = names.of(code);
				if (name !== undefined) add(name, code);
			}
		}
	}
	for (const [, name = '', code = ''] of shortNames.matchAll(/([A-Z ]+?):([A-Z]{2})(?: |$)/g)) add(name, code);
	// RU is Russia, although Spanish shortens the United Kingdom to it.
	for (const code of [...found.values()].flatMap((named) => [...named])) found.set(lettersOf(code), new Set([code]));
	codesByName = found;
	return found;
}

/** `Côte d'Ivoire` and `Côte d’Ivoire`, `U.S.A.` and `USA`. */
const lettersOf = (name: string): string => unaccentedText(name).replace(/[^\p{L}\p{N}]+/gu, '');

/** Not countries, or no more (ISO 3166-1): unions, parts of countries, placeholders and withdrawn codes. */
const notCountries = new Set(['AC', 'CP', 'CQ', 'DG', 'EA', 'IC', 'TA', 'AN', 'BU', 'CS', 'DD', 'DY', 'EU', 'EZ', 'FQ', 'FX', 'HV', 'NH', 'NT', 'QO', 'QU', 'RH', 'SU', 'TP', 'UK', 'UN', 'VD', 'YD', 'YU', 'ZR', 'ZZ', 'XA', 'XB']);

function countryFrom(field: Field, value: string): string {
	const [code, ...others] = countryCodes().get(lettersOf(value)) ?? [];
	if (code !== undefined && others.length === 0) return code;
	if (code === undefined) throw new FieldError(field, `“${value}” is not a country whose name or code is known`);
	throw new FieldError(field, `“${value}” may be several countries. Use ${[code, ...others].sort().join(' or ')}`);
}
