import type { IDataObject, IExecuteFunctions } from 'n8n-workflow';

import { getOrCreate } from '../base/maps';
import { apiValue } from '../fields/convertValue';
import { whyRefused } from '../fields/checks';
import type { Field } from '../fields/field';
import { fieldErrorOr, FieldError } from '../fields/fieldError';
import { isBooleanField, isNumeric, isTimeField, valueShape } from '../fields/fieldKinds';
import { inApiNotation, isCountry, isPhone, phoneCountries, type Notations } from '../fields/notations';
import { foldedText } from '../values/foldedText';
import { listed } from '../base/lists';
import { parseOption } from '../values/parsers';

/** Reads the option *Values In*, and *Source Name*. @throws Error in the user's words for an unknown choice */
export function chosenNotations(n8n: IExecuteFunctions): Notations | undefined {
	const chosen = n8n.getNodeParameter('options.valuesIn.notation', 0, null) as IDataObject | null;
	const source = chosenSource(n8n);
	if (!chosen && source === undefined) return undefined;
	const stored = chosen ?? {};
	const choice = <Value extends string>(label: string, name: string, choices: readonly Value[]): Value | undefined => {
		const value = parseOption(label, stored[name], [...choices, 'api'] as const, { otherwise: 'api' });
		return value === 'api' ? undefined : value;
	};
	const country = String(stored.phoneCountry ?? '').trim().toUpperCase();
	if (country !== '' && !phoneCountries.includes(country)) {
		throw new Error(`Default Country for Phones: enter two letters such as DE instead of “${country}”. Known are ${phoneCountries.join(', ')}.`);
	}
	return {
		source,
		dates: choice('Dates Are', 'dates', ['dayMonth', 'monthDay', 'excel']),
		numbers: choice('Numbers Are', 'numbers', ['point', 'comma']),
		booleans: choice('Yes and No Are', 'booleans', ['words', 'mark']),
		separator: separators[choice('Lists Are Separated By', 'lists', ['semicolon', 'colons', 'line', 'pipe', 'comma']) ?? ''],
		errorTexts: choice('Error Texts Are', 'errorTexts', ['written']),
		countries: choice('Countries Are', 'countries', ['names']),
		phoneCountry: country === '' ? undefined : country,
		valueMap: new Map(pairsIn('Value Map', stored.valueMap, 'Subscriber → lead').map(([from, to]) => [foldedText(from), to])),
	};
}

/** The system that a file comes from. @throws Error in the user's words for a name that is not a plain word */
export function chosenSource(n8n: IExecuteFunctions): string | undefined {
	const source = String(n8n.getNodeParameter('sourceName', 0, '') ?? '').trim();
	if (source === '') return undefined;
	if (/^[\w-]{1,40}$/.test(source)) return source;
	throw new Error(`Source Name: “${source}” has other characters than letters, digits, - and _. Enter a word such as hubspot.`);
}

const separators: Record<string, string> = { comma: ',', semicolon: ';', colons: ':::', line: '\n', pipe: '|' };

/** The pairs in a text, one a line. @throws Error in the user's words for a line without an arrow */
export function pairsIn(label: string, text: unknown, example: string, mayLeaveOut = false): Array<[from: string, to: string]> {
	const lines = String(text ?? '').split('\n').map((line) => line.trim()).filter((line) => line !== '');
	return lines.map((line) => {
		const [, from, to] = /^(.+?)\s*(?:→|=>|->)\s*(.*)$/.exec(line) ?? [];
		if (from !== undefined && to !== undefined && (to !== '' || mayLeaveOut)) return [from, to];
		throw new Error(`${label}: “${line}” has no arrow. Write one pair a line, such as ${example}.`);
	});
}

/** What the option *Values In* could be, and in which fields it matters. */
const candidates: Array<{ isFor: (field: Field) => boolean; words: string; advice: string; notations: Notations }> = [
	...(['dayMonth', 'monthDay', 'excel'] as const).map((dates) => {
		const words = { dayMonth: 'day/month/year', monthDay: 'month/day/year', excel: 'Excel’s day numbers' }[dates];
		return { isFor: isTimeField, words, advice: `Dates Are → ${words}`, notations: { dates } };
	}),
	...(['point', 'comma'] as const).map((numbers) => {
		const words = { point: 'numbers such as 1,234.56', comma: 'numbers such as 1.234,56' }[numbers];
		return { isFor: isNumeric, words, advice: `Numbers Are → ${words.slice(16)}`, notations: { numbers } };
	}),
	{ isFor: isBooleanField, words: 'words such as yes and no', advice: 'Yes and No Are → Words', notations: { booleans: 'words' } },
	{ isFor: isBooleanField, words: 'marks such as x', advice: 'Yes and No Are → x', notations: { booleans: 'mark' } },
	...([['semicolons', 'Semicolon', ';'], ['pipes', 'Pipe', '|'], ['line breaks', 'Line Break', '\n'], [':::', ':::', ':::']] as const).map(
		([words, choice, separator]) => ({
			isFor: (field: Field) => valueShape(field) === 'list',
			words: `lists with ${words}`,
			advice: `Lists Are Separated By → ${choice}`,
			notations: { separator },
		}),
	),
	{ isFor: isCountry, words: 'names of countries', advice: 'Countries Are → Names', notations: { countries: 'names' } },
];

const beforeValues = (field: Field) =>
	({ field, fitting: candidates.filter(({ isFor }) => isFor(field)), values: 0, refused: 0, unknown: new Set<string>() });

/** Finds out which notation would read all values of a field that refuses some. */
export class NotationAdvice {
	private readonly zone: string;
	private readonly fields = new Map<string, ReturnType<typeof beforeValues>>();

	constructor(zone: string) {
		this.zone = zone;
	}

	/** @param value as the item has it */
	add(field: Field, value: unknown): void {
		const found = getOrCreate(this.fields, field.name, () => beforeValues(field));
		found.values += 1;
		found.fitting = found.fitting.filter(({ notations }) => this.isRead(field, value, notations));
	}

	/** @param name of the field */
	addRefused(name: string, value: unknown): void {
		const found = this.fields.get(name);
		if (!found) return;
		found.refused += 1;
		found.fitting = found.fitting.filter(({ notations: { separator = '' } }) => String(value).includes(separator));
		if (found.field.choices && found.unknown.size < maxUnknown) found.unknown.add(String(value));
	}

	/** @returns a sentence for each field that an option would help */
	all(): string[] {
		return [...this.fields.values()].flatMap(({ field, fitting, values, refused, unknown }) => {
			if (refused === 0) return [];
			if (fitting.length > 0) return [`${values} of ${values} values of “${field.label}” are ${fitting.map((candidate) => candidate.words).join(', and could be ')}: choose Values In → ${fitting.map((candidate) => candidate.advice).join(', or ')}.`];
			if (unknown.size > 0) return [`“${field.label}” does not have the choices ${listed([...unknown].map((text) => `“${text}”`))}: say what each means in Values In → Value Map. The choices are ${listed((field.choices ?? []).map(({ label }) => label), maxChoices)}.`];
			if (isPhone(field)) return [`${refused} of ${values} values of “${field.label}” have no country code: choose Values In → Default Country for Phones if they are of one country.`];
			return [];
		});
	}

	private isRead(field: Field, value: unknown, notations: Notations): boolean {
		const written = fieldErrorOr(() => apiValue(field, inApiNotation(field, value, notations), this.zone));
		return !(written instanceof FieldError) && whyRefused(field, written) === undefined;
	}
}

const maxUnknown = 10;
const maxChoices = 20;
