import { getOrCreate } from '../base/maps';
import { unaccentedText } from '../values/foldedText';
import { type Field, FieldError, matchesPattern } from './field';

export const isCountry = (field: Field): boolean => /country/i.test(field.path.at(-1) ?? '') && matchesPattern(field, 'DE') === true;

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
