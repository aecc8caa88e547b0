import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../base/json';
import { exactNumber } from '../base/numbers';
import { memberAtPath } from '../base/ownMembers';
import { isBlank, isUnset, listIn } from '../values/blank';
import { farthestZone, namesZone, parseMoment } from '../values/dates';
import { trimmed, unaccentedText } from '../values/foldedText';
import { booleanIn, isNo } from '../values/readers';
import { fieldNamed, idField, type Field } from './field';
import { fieldKinds } from './fieldKinds';
import { allValuesIn, normalized, valueIn, type ComparedField } from './keys';

/** The comparisons in brackets after the name of a filter: `created_at[gte]`. */
export const comparisons = ['gte', 'gt', 'lte', 'lt', 'contains', 'starts_with', 'empty'] as const;

/** How a filter compares; `is` is equality, which is written without brackets. */
export type Comparison = 'is' | (typeof comparisons)[number];

/** The field and the comparison of a filter; with an unknown comparison, the whole name is a field. */
export function comparedBy(parameter: string): { name: string; comparison: Comparison } {
	const [, name = '', suffix] = /^(.+)\[(\w+)\]$/.exec(parameter) ?? [];
	const comparison = comparisons.find((candidate) => candidate === suffix);
	return comparison ? { name, comparison } : { name: parameter, comparison: 'is' };
}

/**
 * Whether a record meets a condition. `maybe` if only the service can tell: in which zone a time is, what a value of
 * another type means, or whether case counts in a field that it does not describe. In texts that it describes, case counts
 * for equality, and neither case nor accents do for a part.
 */
export type Verdict = 'yes' | 'maybe' | 'no';

/** A field must have one of the values. */
export interface Condition {
	field: ComparedField & Pick<Field, 'label' | 'linksTo'>;
	comparison: Comparison;
	values: unknown[];
	/** Whether a record without the field has no value, as opposed to one of which only some fields are known. */
	isAlwaysListed?: boolean;
}

/**
 * The condition of a filter of a list.
 *
 * @param value the filter's value, as in the query or converted
 * @param fields the fields of the records: they say more about values than a filter does
 */
export function conditionOf(parameter: string, value: unknown, filter: Field | undefined, fields: readonly Field[] = []): Condition {
	const { name, comparison } = comparedBy(parameter);
	const path = filter?.linksTo ? filter.path : name.split(/[.[\]]+/).filter((part) => part !== '');
	const field = name === 'ids' ? idField : fields.find((candidate) => candidate.name === name);
	const kind = filter?.kind ?? 'any';
	const isJoined = typeof value === 'string' && (kind === 'list' || kind === 'any');
	return {
		field: field ?? { ...(filter ?? fieldNamed(name, { kind: 'any' })), name, path },
		comparison,
		values: isJoined ? [value, ...listIn(value)] : [value].flat(),
	};
}

/** Whether a record meets all conditions of one of the groups. */
export const verdictOf = (record: IDataObject, groups: Condition[][]): Verdict =>
	best(groups.map((conditions) => worst(conditions.map((condition) => verdictOfOne(record, condition)))));

const worst = (verdicts: Verdict[]): Verdict => (['no', 'maybe'] as const).find((verdict) => verdicts.includes(verdict)) ?? 'yes';
const best = (verdicts: Verdict[]): Verdict => (['yes', 'maybe'] as const).find((verdict) => verdicts.includes(verdict)) ?? 'no';

function verdictOfOne(record: IDataObject, { field, comparison, values, isAlwaysListed }: Condition): Verdict {
	const isMember = field.path.length > 1 && isObject(memberAtPath(record, field.path.slice(0, -1)));
	if (valueIn(record, field) === undefined && !isAlwaysListed && !isMember) return 'maybe';
	const stored = allValuesIn(record, field).flat();
	const entries = stored.filter((entry) => !isUnset(entry));
	if (comparison === 'empty') {
		const isEmpty = stored.every((entry) => entry === null || entry === undefined || entry === '');
		// Services differ in whether white space, or an object of blanks, is a value.
		if (isEmpty !== (entries.length === 0)) return 'maybe';
		return best(values.map((expected) => (isNo(expected) === isEmpty ? 'no' : 'yes')));
	}
	if (values.length === 0 || values.some((expected) => isBlank(expected) || isObject(expected))) return 'maybe';
	// Services differ in whether a boolean that was never set is false.
	if (entries.length === 0) return comparison === 'is' && values.some((expected) => isFlag(field, expected) && isNo(expected)) ? 'maybe' : 'no';
	return best(
		entries.flatMap((entry) => (isObject(entry) ? [linkIn(entry, field) ?? entry.id ?? entry.value].flat() : [entry])).flatMap((value) =>
			values.map((expected) => (value === undefined ? 'maybe' : comparedWith(field, comparison, value, expected))),
		),
	);
}

/** A link as filters take it: `contacts:con_…`. */
const linkIn = ({ resource, id }: IDataObject, { linksTo }: Condition['field']): string | undefined =>
	linksTo && typeof resource === 'string' && id !== undefined ? `${resource}:${String(id)}` : undefined;

const isFlag = ({ kind }: ComparedField, expected: unknown): boolean =>
	typeof expected === 'boolean' || (kind === 'boolean' && booleanIn(expected) !== undefined);

function comparedWith(field: ComparedField, comparison: Exclude<Comparison, 'empty'>, value: unknown, expected: unknown): Verdict {
	if (comparison === 'is' && isFlag(field, expected)) {
		return isNo(value) !== isNo(expected) ? 'no' : typeof value === 'boolean' ? 'yes' : 'maybe';
	}
	const { order } = fieldKinds[field.kind];
	const isOpen = field.kind === 'any';
	// Times are compared below: the form in which they are compared elsewhere takes a day for its midnight in UTC.
	const textOf = (side: unknown) => String(order === 'instant' ? side : normalized(side, field, field.kind === 'list' ? '*' : ''));
	// The white space around a part counts.
	const [fullText, part] = [unaccentedText(textOf(value)), unaccentedText(textOf(expected))];
	if (comparison === 'contains') return fullText.includes(part) ? 'yes' : 'no';
	if (comparison === 'starts_with') return fullText.startsWith(part) ? 'yes' : 'no';
	const [text, sought] = [trimmed(textOf(value)), trimmed(textOf(expected))];
	if (comparison === 'is' && text === sought) return 'yes';
	// Texts have an order of their own: “10” comes before “9”.
	if (order === undefined && !isOpen) return comparison === 'is' ? 'no' : 'maybe';
	const [span, bound] = spansOf(value, expected);
	if (!span || !bound || span.unit !== bound.unit) {
		const isSimilar = isOpen && unaccentedText(text) === unaccentedText(sought);
		// A number may stand for a time.
		return comparison !== 'is' || isSimilar || (span && bound) ? 'maybe' : 'no';
	}
	if (comparison === 'is') {
		if (span.to < bound.from || span.from > bound.to) return 'no';
		return order === 'instant' && span.from === span.to && bound.from === bound.to ? 'yes' : 'maybe';
	}
	const outcomes = [span.from, span.to].flatMap((a) => [bound.from, bound.to].map((b) => isBeyond[comparison](a, b)));
	return outcomes.every((outcome) => outcome) ? 'yes' : outcomes.some((outcome) => outcome) ? 'maybe' : 'no';
}

const isBeyond = {
	gte: (a: number, b: number) => a >= b,
	gt: (a: number, b: number) => a > b,
	lte: (a: number, b: number) => a <= b,
	lt: (a: number, b: number) => a < b,
};

/** What a value may mean: a number, or the first and the last millisecond of a time. */
interface MeasuredSpan {
	unit: 'number' | 'time';
	from: number;
	to: number;
}

/** Two days are compared as days. A day beside a time, or a time without a zone, may be in any zone. */
function spansOf(...values: [unknown, unknown]): Array<MeasuredSpan | undefined> {
	const areDays = values.every(isDay);
	return values.map((value): MeasuredSpan | undefined => {
		const number = exactNumber(String(value));
		if (number !== undefined) return { unit: 'number', from: number, to: number };
		const from = parseMoment(value, 'utc')?.toMillis();
		if (from === undefined) return undefined;
		const margin = areDays || (!isDay(value) && namesZone(String(value))) ? 0 : farthestZone;
		return { unit: 'time', from: from - margin, to: from + margin + (isDay(value) && !areDays ? dayLength - 1 : 0) };
	});
}

const isDay = (value: unknown): boolean => /^\d{4}-\d\d-\d\d$/.test(String(value).trim());
const dayLength = 86_400_000;
