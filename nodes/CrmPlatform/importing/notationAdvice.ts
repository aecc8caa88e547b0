import { listed } from '../base/lists';
import { getOrCreate } from '../base/maps';
import { whyRefused } from '../fields/checks';
import { apiValue } from '../fields/convertValue';
import { isCountry } from '../fields/countries';
import { type Field, FieldError, fieldErrorOr } from '../fields/field';
import { isBooleanField, isNumeric, isPhoneField, isTimeField, valueShape } from '../fields/fieldKinds';
import { inApiNotation, isUnclearNumber, type Notations } from '../fields/notations';
import type { ItemValues } from '../mapping/itemValues';
import { isBlank } from '../values/blank';
import type { CellConversion } from './fileSurvey';

/** What the option *Values In* could be, and in which fields it matters. */
const candidates: Array<{ isFor: (field: Field) => boolean; words: string; advice: string; notations: Notations }> = [
	{ isFor: isTimeField, words: 'day/month/year', advice: 'Dates Are → day/month/year', notations: { dates: 'dayMonth' } },
	{ isFor: isTimeField, words: 'month/day/year', advice: 'Dates Are → month/day/year', notations: { dates: 'monthDay' } },
	{ isFor: isTimeField, words: 'Excel’s day numbers', advice: 'Dates Are → Excel’s day numbers', notations: { dates: 'excel' } },
	{ isFor: isNumeric, words: 'numbers such as 1,234.56', advice: 'Numbers Are → 1,234.56', notations: { numbers: 'point' } },
	{ isFor: isNumeric, words: 'numbers such as 1.234,56', advice: 'Numbers Are → 1.234,56', notations: { numbers: 'comma' } },
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
	({ field, fitting: candidates.filter(({ isFor }) => isFor(field)), values: 0, refusedCount: 0, unclear: 0, sample: '', unknownChoices: new Set<string>() });

/** Finds out which notation would read all values of a field that refuses some. */
export class NotationAdvice {
	private readonly conversion: CellConversion;
	private readonly fields = new Map<string, ReturnType<typeof beforeValues>>();

	constructor(conversion: CellConversion) {
		this.conversion = conversion;
	}

	/** Adds the values of a row, as it has them. */
	add({ read, refusedValues }: Pick<ItemValues, 'read' | 'refusedValues'>): void {
		for (const { field, value } of read) {
			if (isBlank(value)) continue;
			const found = getOrCreate(this.fields, field.name, () => beforeValues(field));
			found.values += 1;
			if (isNumeric(field) && typeof value === 'string' && isUnclearNumber(value)) {
				found.unclear += 1;
				found.sample = value;
			}
			found.fitting = found.fitting.filter(({ notations }) => this.isRead(field, value, notations));
		}
		for (const { field: { name }, value } of refusedValues) {
			const found = this.fields.get(name);
			if (!found) continue;
			found.refusedCount += 1;
			found.fitting = found.fitting.filter(({ notations: { separator = '' } }) => String(value).includes(separator));
			if (found.field.choices && found.unknownChoices.size < maxUnknown) found.unknownChoices.add(String(value));
		}
	}

	/** @returns a sentence for each field that an option would help */
	all(): string[] {
		return [...this.fields.values()].flatMap((found) => (found.refusedCount > 0 ? (this.sentenceOn(found) ?? []) : []));
	}

	private sentenceOn({ field, fitting, values, refusedCount, unclear, sample, unknownChoices }: ReturnType<typeof beforeValues>): string | undefined {
		if (fitting.length > 0 && !fitting.some(({ notations }) => this.isChosen(notations))) {
			const words = fitting.map((candidate) => candidate.words).join(', and could be ');
			const advice = fitting.map((candidate) => candidate.advice).join(', or ');
			// Values that could be either are no evidence for one of them.
			const others = fitting.length > 1 ? 0 : unclear;
			const condition = others === 0 ? '' : ` if the others, such as “${sample}”, are as well`;
			return `${values - others} of ${values} values of “${field.label}” are ${words}: choose Values In → ${advice}${condition}.`;
		}
		if (unknownChoices.size > 0) {
			const texts = listed([...unknownChoices].map((text) => `“${text}”`));
			const choices = listed((field.choices ?? []).map(({ label }) => label), maxChoices);
			return `“${field.label}” does not have the choices ${texts}: say what each means in Values In → Value Map. The choices are ${choices}.`;
		}
		if (!isPhoneField(field) || this.conversion.notations.phoneCountry !== undefined) return undefined;
		return `${refusedCount} of ${values} values of “${field.label}” have no country code: choose Values In → Default Country for Phones if they are of one country.`;
	}

	/** Whether values are read in a notation already: those that fit it are refused for another reason. */
	private isChosen(notations: Notations): boolean {
		return Object.entries(notations).every(([name, value]) => this.conversion.notations[name as keyof Notations] === value);
	}

	private isRead(field: Field, value: unknown, notations: Notations): boolean {
		const written = fieldErrorOr(() => apiValue(field, inApiNotation(field, value, notations), this.conversion.zone));
		return !(written instanceof FieldError) && whyRefused(field, written) === undefined;
	}
}

const maxUnknown = 10;
const maxChoices = 20;
