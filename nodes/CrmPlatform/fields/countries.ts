import { getOrCreate } from '../base/maps';
import { unaccentedText } from '../values/foldedText';
import { matchesPattern, phoneIn } from './conversions';
import type { Field } from './field';
import { FieldError } from './fieldError';
import { isPlainText } from './fieldKinds';

export const isPhone = (field: Field): boolean =>
	isPlainText(field) && matchesPattern(field, '+493012345678') === true && matchesPattern(field, 'DE') === false;

/** Calling codes of countries (ITU-T E.164), and what is dialed in front of a number within them. */
const callingCodes =
	'US:1:1 CA:1:1 DE:49:0 AT:43:0 CH:41:0 GB:44:0 IE:353:0 FR:33:0 BE:32:0 NL:31:0 LU:352 ES:34 PT:351 IT:39 DK:45 NO:47 SE:46:0 FI:358:0 IS:354 PL:48 CZ:420 SK:421:0 HU:36:06 SI:386:0 HR:385:0 RS:381:0 RO:40:0 BG:359:0 GR:30 CY:357 MT:356 TR:90:0 UA:380:0 EE:372 LV:371 LT:370:0 IL:972:0 AE:971:0 SA:966:0 EG:20:0 MA:212:0 ZA:27:0 NG:234:0 KE:254:0 IN:91:0 PK:92:0 BD:880:0 CN:86:0 HK:852 TW:886:0 JP:81:0 KR:82:0 SG:65 MY:60:0 TH:66:0 VN:84:0 ID:62:0 PH:63:0 AU:61:0 NZ:64:0 BR:55:0 AR:54:0 CL:56 CO:57 PE:51:0';
const dialing = new Map(callingCodes.split(' ').map((entry) => [entry.slice(0, 2), entry.slice(3).split(':')] as const));

export const phoneCountries: readonly string[] = [...dialing.keys()].sort();

/** Maximum digits of a number that is dialed within a country. Two short numbers have more. */
const maxNationalDigits = 13;

/** A number without its area code, and several numbers, stay as they are, and are refused like other texts (`phoneNumber`). */
export function phoneFrom(value: string, country: string): string {
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

export function countryFrom(field: Field, value: string): string {
	const [code, ...others] = countryCodes().get(lettersOf(value)) ?? [];
	if (code !== undefined && others.length === 0) return code;
	if (code === undefined) throw new FieldError(field, `“${value}” is not a country whose name or code is known`);
	throw new FieldError(field, `“${value}” may be several countries. Use ${[code, ...others].sort().join(' or ')}`);
}
