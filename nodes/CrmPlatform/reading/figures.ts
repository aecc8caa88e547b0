import type { IDataObject } from 'n8n-workflow';

import { getOrCreate } from '../base/maps';
import { exactNumber, isDecimal } from '../base/numbers';
import type { Field } from '../fields/field';
import { isNumeric } from '../fields/fieldKinds';
import { isBlank } from '../values/blank';

/** A record as far as it is counted: its value for each grouping, or several, and the numbers to add up. */
export interface CountedRecord {
	id: unknown;
	values: unknown[][];
	numbers: unknown[];
}

/** A group of records: the values that they share, their number, and the numbers to add up, in millionths, so that adding is exact. */
export interface CountedGroup {
	values: unknown[];
	count: number;
	numbers: bigint[][];
}

/**
 * The groups of records; one with several values belongs to the group of each.
 *
 * @throws Error in the user's words if a value to add up is not a number
 */
export function countedGroups(records: Iterable<CountedRecord>, sumOf: Field[]): CountedGroup[] {
	const groups = new Map<string, CountedGroup>();
	for (const { values, numbers } of records) {
		const combinations = values.reduce<unknown[][]>((all, some) => all.flatMap((before) => some.map((value) => [...before, value])), [[]]);
		for (const combination of combinations) {
			const newGroup = (): CountedGroup => ({ values: combination, count: 0, numbers: sumOf.map(() => []) });
			const group = getOrCreate(groups, JSON.stringify(combination), newGroup);
			group.count += 1;
			for (const [i, field] of sumOf.entries()) if (!isBlank(numbers[i])) group.numbers[i]!.push(millionths(field, numbers[i]));
		}
	}
	return [...groups.values()];
}

/** @throws Error in the user's words if the value is not a number */
function millionths(field: Field, value: unknown): bigint {
	const text = String(value).trim();
	// Texts that look like numbers may be phone numbers.
	const mayBeNumber = typeof value === 'number' || (typeof value === 'string' && isNumeric(field));
	const isNumber = mayBeNumber && isDecimal(text) && Number.isFinite(Number(text));
	if (!isNumber) throw new Error(`${field.label} has no numbers to add up. Choose a field with numbers.`);
	const digits = /e/i.test(text) ? Number(text).toLocaleString('en', { useGrouping: false, maximumFractionDigits: 6 }) : text;
	const [integerPart = '', fraction = ''] = digits.split('.');
	return BigInt(integerPart + fraction.slice(0, 6).padEnd(6, '0'));
}

const sumIn = (numbers: bigint[]): bigint => numbers.reduce((sum, number) => sum + number, 0n);

/**
 * The groups in the order of *Group By*, each period in its order; without periods, the one with the largest sum or count first.
 *
 * @param arePeriods of each value of a group
 */
export function orderedGroups(groups: CountedGroup[], arePeriods: boolean[]): CountedGroup[] {
	const weighted = groups.map((group) => ({ ...group, weight: group.numbers[0] ? sumIn(group.numbers[0]) : BigInt(group.count) }));
	const byWeight = weighted.sort((a, b) => Number(b.weight - a.weight));
	if (!arePeriods.includes(true)) return byWeight;
	const ranks = arePeriods.map((isPeriod, i) => {
		const texts = [...new Set(byWeight.map(({ values }) => String(values[i])))];
		return new Map((isPeriod ? texts.sort() : texts).map((text, rank) => [text, rank]));
	});
	const difference = (a: CountedGroup, b: CountedGroup, i: number) => ranks[i]!.get(String(a.values[i]))! - ranks[i]!.get(String(b.values[i]))!;
	return byWeight.sort((a, b) => ranks.map((_, i) => difference(a, b, i)).find((each) => each !== 0) ?? 0);
}

/** The count and the totals of a group, named as by n8n's Summarize node. */
export const figuresOf = ({ count, numbers }: CountedGroup, sumOf: Field[]): IDataObject =>
	Object.assign({ count }, ...numbers.map((some, i) => totalsOf(sumOf[i]!, some))) as IDataObject;

function totalsOf({ name }: Field, numbers: bigint[]): IDataObject {
	const [sum, count] = [sumIn(numbers), BigInt(numbers.length)];
	const average = count === 0n ? undefined : (sum + (sum < 0n ? -count : count) / 2n) / count;
	const [min, max] = numbers.length === 0 ? [] : [numbers.reduce((a, b) => (b < a ? b : a)), numbers.reduce((a, b) => (b > a ? b : a))];
	const totals = { sum, average, min, max };
	return Object.fromEntries(Object.entries(totals).map(([figure, value]) => [`${figure}_${name}`, exactly(value)]));
}

/** A sum as a number or, if JavaScript would round it, as the text of its digits. */
function exactly(sum: bigint | undefined): number | string | null {
	if (sum === undefined) return null;
	const digits = (sum < 0n ? -sum : sum).toString().padStart(7, '0');
	const text = `${sum < 0n ? '-' : ''}${digits.slice(0, -6)}.${digits.slice(-6)}`.replace(/\.?0+$/, '');
	return exactNumber(text) ?? text;
}
