import { trimmed } from '../values/foldedText';
import { type Field, matchesPattern } from './field';

/** The pattern of numbers with a country code (ITU-T E.164). */
export const e164 = '^\\+[1-9]\\d{6,14}$';
const e164Number = new RegExp(e164);

const gap = '[ \u00a0\u202f.\\-\u2010-\u2013]';
const wideGap = `(?: ?(?:/|${gap}) ?)?`;
const areaCode = '(?:\\(\\d[\\d ]{0,6}\\)|\\d{1,6})';
/** One phone number: slashes and wide gaps end the area code. Anywhere else, a second number or an extension follows. */
const callingCode = `(?:\\(?(\\+|00)\\d{1,3}\\)?${wideGap}(?:\\(0\\))?|1)?`;
const onePhone = new RegExp(`^(?:tel:)?\\s*${callingCode}${wideGap}${areaCode}${wideGap}\\d+(?:${gap}\\d+)*$`, 'i');

/**
 * The digits of a phone number as people write it, and what precedes its country code: `+`, `00` or nothing. Without the
 * zero in parentheses that is dialed only within the country (E.123, section 7.2). Undefined for anything else, such as
 * two numbers, which together would be a wrong one, and where such a zero is part of the number, but not of mobile ones.
 */
function dialedDigits(text: string): { prefix: string; digits: string } | undefined {
	const [number, prefix] = onePhone.exec(trimmed(text)) ?? [];
	if (number === undefined || unclearZero.test(number)) return undefined;
	const digits = (prefix === undefined ? number : number.replace(/\(0\)/, '')).replace(/\D/g, '');
	return digits.length > maxPhoneDigits ? undefined : { prefix: prefix ?? '', digits };
}

/** A zero in parentheses in Italy and San Marino. */
const unclearZero = /^\D*(?:00)?(?:39|378)\D*\(0\)/;

/** Maximum digits of a number and what is dialed in front of it: 15 in E.164. */
const maxPhoneDigits = 17;

/**
 * Writes a phone number with a country code as E.164, if the service takes only that. Any other value stays as it is,
 * since its country is unknown: `valueProblem` (checks) or the CRM refuses it.
 */
export function inE164(field: Field, value: unknown): unknown {
	// Most texts have no pattern, and may be long.
	if (typeof value !== 'string' || field.pattern === undefined) return value;
	const { prefix, digits = '' } = dialedDigits(value) ?? {};
	if (prefix !== '+') return value;
	const number = `+${digits}`;
	const isWritten = matchesPattern(field, number) === true && matchesPattern(field, value) === false;
	return isWritten && e164Number.test(number) ? number : value;
}

/** Calling codes of countries (ITU-T E.164), and what is dialed in front of a number within them. */
const callingCodes = [
	'US:1:1 CA:1:1 DE:49:0 AT:43:0 CH:41:0 GB:44:0 IE:353:0 FR:33:0 BE:32:0 NL:31:0 LU:352 ES:34 PT:351 IT:39 DK:45 NO:47',
	'SE:46:0 FI:358:0 IS:354 PL:48 CZ:420 SK:421:0 HU:36:06 SI:386:0 HR:385:0 RS:381:0 RO:40:0 BG:359:0 GR:30 CY:357 MT:356',
	'TR:90:0 UA:380:0 EE:372 LV:371 LT:370:0 IL:972:0 AE:971:0 SA:966:0 EG:20:0 MA:212:0 ZA:27:0 NG:234:0 KE:254:0 IN:91:0',
	'PK:92:0 BD:880:0 CN:86:0 HK:852 TW:886:0 JP:81:0 KR:82:0 SG:65 MY:60:0 TH:66:0 VN:84:0 ID:62:0 PH:63:0 AU:61:0 NZ:64:0',
	'BR:55:0 AR:54:0 CL:56 CO:57 PE:51:0',
];
const dialing = new Map(callingCodes.flatMap((line) => line.split(' ')).map((entry) => [entry.slice(0, 2), entry.slice(3).split(':')] as const));

export const phoneCountries: readonly string[] = [...dialing.keys()].sort();

/** Countries where other digits than 00 are dialed before a country code, such as 0011: what begins with 00 is unclear there. */
const countriesWithOtherPrefix = new Set('AU BR CO HK ID JP KE KR NG SG TH TW'.split(' '));

/** Area code and number in the United States and Canada: neither begins with 0 or 1. */
const americanNumber = /^1?([2-9]\d{2}[2-9]\d{6})$/;

/** Maximum digits of a number that is dialed within a country. Two short numbers have more. */
const maxNationalDigits = 13;

/** Numbers behind the trunk prefix: longer ones have the code of a carrier, or a sign of mobile numbers that is not written with +. */
const nationalNumbers: Record<string, RegExp> = { AR: /^\d{10}$/, BR: /^\d{10,11}$/ };

/** A phone number as it is dialed in a country, as E.164. One without its area code, and several numbers, stay as they are (`inE164`). */
export function withCallingCode(value: string, country: string): string {
	const [code = '', trunk] = dialing.get(country) ?? [];
	const { prefix, digits = '' } = dialedDigits(value) ?? {};
	if (prefix === undefined || prefix === '+' || digits.length < 6) return value;
	if (prefix === '' && digits.length > maxNationalDigits) return value;
	if (code === '1') {
		const [, national] = americanNumber.exec(digits) ?? [];
		return national === undefined ? value : `+1${national}`;
	}
	if (digits.startsWith('00')) return countriesWithOtherPrefix.has(country) ? value : `+${digits.slice(2)}`;
	if (country === 'JP' && digits.startsWith('010')) return value;
	// It may have its calling code already, or the American one; Italian mobile numbers begin with 39, too.
	// Numbers of Luxembourg are short.
	const leastWithCode = country === 'LU' ? 8 : /^39[^0]/.test(digits) ? 11 : 10;
	const mayHaveCode = /^1[2-9]\d{9}$/.test(digits) || (digits.startsWith(code) && digits.length >= leastWithCode);
	if (trunk === undefined) return mayHaveCode ? value : `+${code}${digits}`;
	const national = digits.slice(trunk.length);
	return digits.startsWith(trunk) && nationalNumbers[country]?.test(national) !== false ? `+${code}${national}` : value;
}
