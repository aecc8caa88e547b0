import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../base/json';
import { memberAtPath, withoutMembers } from '../base/ownMembers';
import { isBlank, hasOnlyBlanks, listIn } from '../values/blank';
import { trimmed, unaccentedText } from '../values/foldedText';
import { booleanIn } from '../values/parsers';
import { fieldNamed, idField, type Field } from './field';
import { elementKind, fieldKinds, isBooleanField, valueShape } from './fieldKinds';
import { allValuesIn, canonicalForm, valueIn, type ComparedField } from './keys';

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
 * Whether a record meets a condition. `maybe` if only the service can tell: what a value of another form than the
 * description says means, or how a field that it does not describe is compared. In texts that it describes, case counts
 * for equality, and neither case nor accents do for what a text contains.
 */
export type Verdict = 'yes' | 'maybe' | 'no';

/** A field must have one of the values. */
export interface Condition {
	field: ComparedField & Pick<Field, 'label'>;
	comparison: Comparison;
	values: unknown[];
	/** Whether a record without the field has no value, as opposed to one of which only some fields are known. */
	isAlwaysListed?: boolean;
}

/** @param value as in the query or converted @param fields of the records: they say more about values than a filter does */
export function conditionOf(parameter: string, value: unknown, filter: Field | undefined, fields: readonly Field[]): Condition {
	const { name, comparison } = comparedBy(parameter);
	const path = filter?.linksTo ? filter.path : name.split(/[.[\]]+/).filter((step) => step !== '');
	const field = name === 'ids' ? idField : fields.find((candidate) => candidate.name === name);
	const isJoined = typeof value === 'string' && ['list', 'open'].includes(filter ? valueShape(filter) : 'open');
	return {
		field: field ?? { ...(filter ?? fieldNamed(name, { kind: 'any' })), name, path },
		comparison,
		values: isJoined ? [value, ...listIn(value)] : [value].flat(),
	};
}

/** Whether a record meets all conditions of one of the alternatives. */
export const verdictOf = (record: IDataObject, alternatives: Condition[][]): Verdict =>
	best(alternatives.map((conditions) => worst(conditions.map((condition) => verdictOfOne(record, condition)))));

const worst = (verdicts: Verdict[]): Verdict => (['no', 'maybe'] as const).find((verdict) => verdicts.includes(verdict)) ?? 'yes';
const best = (verdicts: Verdict[]): Verdict => (['yes', 'maybe'] as const).find((verdict) => verdicts.includes(verdict)) ?? 'no';

function verdictOfOne(record: IDataObject, { field, comparison, values, isAlwaysListed }: Condition): Verdict {
	const isMember = field.path.length > 1 && isObject(memberAtPath(record, field.path.slice(0, -1)));
	if (valueIn(record, field) === undefined && !isAlwaysListed && !isMember) return 'maybe';
	const stored = allValuesIn(record, field).flat();
	const entries = stored.filter((entry) => !hasOnlyBlanks(entry));
	if (comparison === 'empty') {
		const isEmpty = stored.every((entry) => entry === null || entry === undefined || entry === '');
		// Services differ in whether white space, or an object of blanks, is a value.
		if (isEmpty !== (entries.length === 0)) return 'maybe';
		return best(values.map((expected) => ((booleanIn(expected) === false) === isEmpty ? 'no' : 'yes')));
	}
	if (values.length === 0 || values.some((expected) => isBlank(expected) || isObject(expected))) return 'maybe';
	// Services differ in whether a boolean that was never set is false.
	const isFalse = (expected: unknown) => isFlag(field, expected) && booleanIn(expected) === false;
	if (entries.length === 0) return values.some(isFalse) ? 'maybe' : 'no';
	return best(
		entries.flatMap((entry) => (isObject(entry) ? [linkIn(entry, field) ?? entry.id ?? entry.value].flat() : [entry])).flatMap((value) =>
			values.map((expected) => (value === undefined ? 'maybe' : comparedWith(field, comparison, value, expected))),
		),
	);
}

/** A link as filters take it: `contacts:con_…`. */
const linkIn = ({ resource, id }: IDataObject, { linksTo }: Condition['field']): string | undefined =>
	linksTo && typeof resource === 'string' && id !== undefined ? `${resource}:${String(id)}` : undefined;

const isFlag = (field: ComparedField, expected: unknown): boolean =>
	typeof expected === 'boolean' || (isBooleanField(field) && booleanIn(expected) !== undefined);

function comparedWith(field: ComparedField, comparison: Exclude<Comparison, 'empty'>, value: unknown, expected: unknown): Verdict {
	if (comparison === 'is' && isFlag(field, expected)) {
		if (typeof value !== 'boolean') return 'maybe';
		return value === booleanIn(expected) ? 'yes' : 'no';
	}
	const { shape, rank } = fieldKinds[field.kind];
	// Times are compared below: the form in which they are compared elsewhere takes a day for its midnight in UTC.
	const textOf = (side: unknown, as = field) => String(elementKind(field) === 'dateTime' ? side : canonicalForm(side, as, shape === 'list' ? '*' : ''));
	if (comparison === 'contains' || comparison === 'starts_with') {
		const method = comparison === 'contains' ? 'includes' : 'startsWith';
		// White space counts. A part of a web address is also compared as written: as an address, it gets a slash at its end.
		const [texts, parts] = [value, expected].map((side) => [field, withoutMembers(field, 'isUrl')].map((as) => unaccentedText(textOf(side, as))));
		return texts!.some((text) => parts!.some((part) => text[method](part))) ? 'yes' : 'no';
	}
	if (comparison === 'is' && trimmed(textOf(value)) === trimmed(textOf(expected))) return 'yes';
	// Texts have an order of their own: “10” comes before “9”.
	if (!rank) return comparison === 'is' && shape !== 'open' ? 'no' : 'maybe';
	const [ofValue, bound] = [value, expected].map((side) => rank(String(side)));
	if (ofValue === undefined || bound === undefined) return 'maybe';
	return isBeyond[comparison](ofValue, bound) ? 'yes' : 'no';
}

const isBeyond = {
	is: (a: number, b: number) => a === b,
	gte: (a: number, b: number) => a >= b,
	gt: (a: number, b: number) => a > b,
	lte: (a: number, b: number) => a <= b,
	lt: (a: number, b: number) => a < b,
};
