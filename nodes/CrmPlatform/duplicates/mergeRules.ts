import { canonicalText, isObject } from '../base/json';
import { maxBy } from '../base/lists';
import { externalId, type Field } from '../fields/field';
import { isPlainText, valueShape } from '../fields/fieldKinds';
import type { IdentifiedRecord } from '../lookUp/lookUp';
import { hasOnlyBlanks } from '../values/blank';

/** What one of the duplicates has in a field: the survivor first, then the others, the oldest first. */
export interface Candidate {
	record: IdentifiedRecord;
	value: unknown;
	changedAt: number;
}

/** How the values of duplicates become one. */
interface MergeRuleRow {
	/** In the form. */
	option: [label: string, description?: string];
	merge: (candidates: Candidate[], isMainList: boolean) => unknown;
	/** Whether it chooses by the times at which the records were changed. */
	needsTimes?: true;
	/** What follows the label of a field that cannot have the rule, of the fields of a record type; undefined if it can. */
	whyNotFor?: (field: Field | undefined, fields: Field[]) => string | undefined;
}

export type MergeRule = 'all' | 'externalIds' | 'longest' | 'newest' | 'notEmpty' | 'survivor';

export const mergeRules: Record<MergeRule, MergeRuleRow> = {
	all: {
		option: ['All', 'The entries of all lists'],
		merge: (candidates, isMainList) => united(filled(candidates).map(({ value }) => value), isMainList),
		whyNotFor: (field) => (isList(field) ? undefined : 'has one value, so it cannot have all. Choose another rule.'),
	},
	externalIds: {
		option: ['External IDs', 'The survivor’s text, and the external IDs of the deleted records'],
		merge: ([survivor, ...others]) => withExternalIds(survivor!.value, others.map(({ record }) => record)),
		whyNotFor: (field, fields) => (field && isPlainText(field) && fields.some(({ name }) => name === externalId.name)
			? undefined
			: 'cannot take the external IDs of deleted records. Choose a text field of records that have an external ID.'),
	},
	longest: {
		option: ['Longest'],
		merge: (candidates) => maxBy(filled(candidates), ({ value }) => (typeof value === 'string' ? value : canonicalText(value)).length)?.value,
	},
	newest: {
		option: ['Newest', 'That of the last changed record with one'],
		needsTimes: true,
		merge: (candidates) => maxBy(filled(candidates), ({ changedAt }) => changedAt)?.value,
	},
	notEmpty: {
		option: ['Not Empty', 'The survivor’s, or that of the oldest other record with one'],
		merge: (candidates) => filled(candidates)[0]?.value,
	},
	survivor: { option: ['Survivor’s'], merge: ([survivor]) => survivor!.value },
};

/** Whether a field has lists, as its description says: an array in JSON may be coordinates. */
export const isList = (field: Field | undefined): boolean => field !== undefined && (valueShape(field) === 'list' || field.members !== undefined);

/** What entries of lists that are one have in common. */
export const entryKey = (entry: unknown): string => canonicalText(isObject(entry) ? { ...entry, primary: undefined } : entry);

const filled = (candidates: Candidate[]): Candidate[] => candidates.filter(({ value }) => !hasOnlyBlanks(value));

/** A text as it is, followed by those external IDs of records that it does not have, each once. */
function withExternalIds(text: unknown, records: IdentifiedRecord[]): unknown {
	const before = String(text ?? '');
	const present = before.split(',').map((id) => id.trim());
	// An ID may have commas itself.
	const has = (id: string) => present.includes(id) || `, ${before}, `.includes(`, ${id}, `);
	const ids = records.flatMap(({ [externalId.name]: id }) => (hasOnlyBlanks(id) || has(String(id)) ? [] : [String(id)]));
	return ids.length === 0 ? text : [...(hasOnlyBlanks(text) ? [] : [text]), ...new Set(ids)].join(', ');
}

/**
 * The first list as it is, and of each other one what those before it lack. The main entry of the first list stays so; without
 * one, the CRM takes its first.
 *
 * @param isMainList whether the list is that of a field, such as `emails`, in which an address in any case is one entry
 */
function united(lists: unknown[], isMainList: boolean): unknown[] | undefined {
	const keyOf = (entry: unknown) =>
		(isMainList && isObject(entry) && entry.value !== undefined ? String(entry.value).toLowerCase() : entryKey(entry));
	const asFurther = (entry: unknown) => (isObject(entry) && entry.primary === true ? { ...entry, primary: false } : entry);
	if (lists.length === 0) return undefined;
	return lists.map((list) => [list].flat()).reduce((soFar, list) => {
		const keys = new Set(soFar.map(keyOf));
		return [...soFar, ...list.filter((entry) => !keys.has(keyOf(entry))).map(asFurther)];
	});
}
