import type { IExecuteFunctions } from 'n8n-workflow';

import { listed } from '../base/lists';
import { getOrCreate } from '../base/maps';
import { whyRefused } from '../fields/checks';
import { apiValue } from '../fields/convertValue';
import { isCountry, isPhone } from '../fields/countries';
import type { Field } from '../fields/field';
import { fieldErrorOr, FieldError } from '../fields/fieldError';
import { isBooleanField, isNumeric, isTimeField, valueShape } from '../fields/fieldKinds';
import { inApiNotation, type Notations } from '../fields/notations';
import { chosenNotations } from '../mapping/chosenNotations';

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
	private readonly hasPhoneCountry: boolean;
	private readonly fields = new Map<string, ReturnType<typeof beforeValues>>();

	constructor(n8n: IExecuteFunctions) {
		this.zone = n8n.getTimezone();
		this.hasPhoneCountry = chosenNotations(n8n)?.phoneCountry !== undefined;
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
			if (isPhone(field) && !this.hasPhoneCountry) return [`${refused} of ${values} values of “${field.label}” have no country code: choose Values In → Default Country for Phones if they are of one country.`];
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
