import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../base/json';
import { fieldNamed } from '../fields/field';
import { allValuesIn, looseText } from '../fields/keys';
import { isBlank } from '../values/blank';
import { foldedText, visibleText } from '../values/foldedText';

/** A place in which a text names the person. */
export interface Place {
	/** Its path in the record: `body`, `participants.0.email`. */
	field: string;
	text: string;
}

/** The email addresses, phone numbers and names of a person, and how to find them in texts. */
export class Identifiers {
	readonly values: string[];
	private readonly patterns: RegExp[];
	private readonly addressPatterns: RegExp[];
	private readonly addresses: ReadonlySet<string>;

	/** @param contacts the person's, and duplicates that were merged into it */
	constructor(contacts: IDataObject[]) {
		const { emails, phones } = addressesOf(contacts);
		this.addresses = new Set(addressForms({ emails, phones }));
		// A first or last name alone is a word of other texts, too.
		const full = contacts.map(({ first_name: first, last_name: last }) => [first, last]).filter((parts) => !parts.some(isBlank));
		const names = full.flatMap((parts) => [parts.join(' '), parts.toReversed().join(' ')]);
		this.values = [...new Set([...emails, ...phones, ...full.map((parts) => parts.join(' '))])];
		this.addressPatterns = [
			...emails.map((email) => pattern(escaped(email), '[\\w.+-]', '[\\w-]|\\.\\w')),
			...phones.map((phone) => pattern(`(?:${international}${separators}*)?${digitsOf(phone)}`, '\\d', '\\d')),
			// As it is dialed within the country; the same digits after another country code are another number.
			...phones.filter((phone) => countryCode.test(phone)).map((phone) => phone.replace(countryCode, '').replace(/\D/g, '')).filter((digits) => digits.length > 7)
				.map((digits) => pattern(`(?:[018]${separators}*)?${digitsOf(digits)}`, `\\d|${international}(?:\\d|${separators}){0,20}`, '\\d')),
		];
		const namePattern = (name: string) => visibleText(name).split(' ').map(escaped).join(`(?:[\\s,]|${markup})+`);
		this.patterns = [...this.addressPatterns, ...names.map((name) => pattern(namePattern(name), '\\p{L}', '\\p{L}'))];
	}

	/** Whether a text of a value has an email address or phone number of the person: somebody else may have the name. */
	hasAddressIn(value: unknown): boolean {
		return this.placesIn(value, [], this.addressPatterns).length > 0;
	}

	/** Whether a contact has an email address or phone number of the person as its own. */
	sharesAddressWith(contact: IDataObject): boolean {
		return addressForms(addressesOf([contact])).some((address) => this.addresses.has(address));
	}

	/** The texts of a value that name the person. */
	placesIn(value: unknown, path: string[] = [], patterns = this.patterns): Place[] {
		if (typeof value === 'string') {
			const text = value.normalize('NFC');
			return patterns.some((each) => text.search(each) !== -1) ? [{ field: path.join('.'), text: value.slice(0, 200) }] : [];
		}
		const members: Array<[string, unknown]> = Array.isArray(value) || isObject(value) ? Object.entries(value) : [];
		return members.flatMap(([name, member]) => this.placesIn(member, [...path, name], patterns));
	}

	/** A copy of a value in which no text names the person. */
	without(value: unknown): unknown {
		if (typeof value === 'string') return this.patterns.reduce((text, each) => text.replace(each, '[erased]'), value.normalize('NFC'));
		if (Array.isArray(value)) return value.map((entry) => this.without(entry));
		return isObject(value) ? Object.fromEntries(Object.entries(value).map(([name, member]) => [name, this.without(member)])) : value;
	}
}

function addressesOf(contacts: IDataObject[]) {
	const valuesOf = (name: string) => contacts.flatMap((contact) => allValuesIn(contact, fieldNamed(name)));
	const textsOf = (name: string) => [...new Set(valuesOf(name).filter((value) => !isBlank(value)).map(String))];
	return { emails: textsOf('email'), phones: textsOf('phone').filter((phone) => phone.replace(/\D/g, '').length > 5) };
}

/** The email addresses without case, and the phone numbers without separators. */
const addressForms = ({ emails, phones }: ReturnType<typeof addressesOf>): string[] => [...emails.map(foldedText), ...phones.map(looseText)];

/** White space and emphasis in HTML. */
const markup = '&nbsp;|<[^<>]{0,200}>';
/** What people and programs write between the digits of a phone number; `(0)` is dialed only within a country. */
const separators = `(?:\\(0\\)|[\\s().\\/\u00ad\u2010-\u2015\u2060\u200b\u2212-]|${markup})`;
/** What stands before a country code. */
const international = '(?:[+\uff0b]|(?<!\\d)00)';
/** A country code has one, two or three digits, as its first ones say. */
const countryCode = /^\+(?:[17]|2[07]|3[0-469]|4[013-9]|5[1-8]|6[0-6]|8[1246]|9[0-58]|\d{3})/;
/** A digit, also as wide as a Chinese character, or in the two Arabic scripts. */
const anyDigit = (digit: string): string => `[${[0x30, 0xff10, 0x660, 0x6f0].map((zero) => String.fromCodePoint(zero + Number(digit))).join('')}]`;
const digitsOf = (phone: string): string => [...phone.replace(/\D/g, '')].map(anyDigit).join(`${separators}*`);

/** The names that HTML has for marks on letters, and for letters with a name of their own. */
const entityMarks: Record<string, string> = { '\u0300': 'grave', '\u0301': 'acute', '\u0302': 'circ', '\u0303': 'tilde', '\u0308': 'uml', '\u030a': 'ring', '\u0327': 'cedil', '\u030c': 'caron' };
const entityLetters: Record<string, string> = { æ: 'aelig', ø: 'oslash', þ: 'thorn', ð: 'eth', œ: 'oelig', ł: 'lstrok' };

/** A pattern for all ways in which people, editors and HTML write a text, in any case. */
const escaped = (text: string): string => text.normalize('NFC').replace(/ss|./gisu, (char) => {
	if (/['\u2019\u02bc]/.test(char)) return '(?:[\'\u2019\u02bc]|&(?:#0?39|#x27|apos|rsquo);)';
	if (/[-\u2010\u2011]/.test(char)) return '[-\u2010\u2011]';
	if (/^(?:ß|ss)$/i.test(char)) return '(?:ß|ss|&szlig;|&#223;|&#xdf;)';
	// Turkish has two letters i, which other languages mix up.
	if (/[iıİ]/i.test(char)) return '(?:[iıİ]\u0307?|&(?:#0*30[45]|#x0*13[01]);)';
	if (char < '\u0080') return char.replace(/[.*+?^${}()|[\]\\/]/, '\\$&');
	const [lower, [letter = '', mark = '']] = [char.toLowerCase(), char.normalize('NFD')];
	const name = entityLetters[lower] ?? (entityMarks[mark] && letter + entityMarks[mark]);
	const codes = [lower, char.toUpperCase()].map((each) => each.codePointAt(0)!).flatMap((code) => [`#0*${code}`, `#x0*${code.toString(16)}`]);
	return `(?:${char}|&(?:${[...codes, ...(name ? [name] : [])].join('|')});)`;
});

const pattern = (text: string, notBefore: string, notAfter: string): RegExp => new RegExp(`(?<!${notBefore})${text}(?!${notAfter})`, 'giu');
