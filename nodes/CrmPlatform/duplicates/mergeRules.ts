import { canonicalText, isObject } from '../base/json';
import { maxBy } from '../base/lists';
import { externalId, type Field } from '../fields/field';
import { isPlainText, valueShape } from '../fields/fieldKinds';
import { entryValue } from '../fields/keys';
import type { IdentifiedRecord } from '../lookUp/recordList';
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
	merge: (candidates: Candidate[]) => unknown;
	/** Whether it chooses by the times at which the records were changed. */
	needsTimes?: true;
	/** What follows the label of a field that cannot have the rule, of the fields of a record type; undefined if it can. */
	whyNotFor?: (field: Field | undefined, fields: Field[]) => string | undefined;
}

export type MergeRule = 'all' | 'externalIds' | 'longest' | 'newest' | 'notEmpty' | 'survivor';

export const mergeRules: Record<MergeRule, MergeRuleRow> = {
	all: {
		option: ['All', 'The entries of all lists'],
		merge: (candidates) => united(filled(candidates).map(({ value }) => value)),
		whyNotFor: (field) => (field && valueShape(field) !== 'list' && !field.members ? 'has one value, so it cannot have all. Choose another rule.' : undefined),
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

/** The rule of a field for which the user has chosen none. */
export const usualRule = (candidates: Candidate[]): MergeRule =>
	(filled(candidates).some(({ value }) => Array.isArray(value)) ? 'all' : 'notEmpty');

const filled = (candidates: Candidate[]): Candidate[] => candidates.filter(({ value }) => !hasOnlyBlanks(value));

/** A text with the external IDs of records, each once. */
function withExternalIds(text: unknown, records: IdentifiedRecord[]): string {
	const ids = records.flatMap(({ [externalId.name]: id }) => (hasOnlyBlanks(id) ? [] : [String(id)]));
	return [...new Set([...String(text ?? '').split(',').map((id) => id.trim()), ...ids])].filter((id) => id !== '').join(', ');
}

/** All entries of lists, each once: addresses in any case. The main one of the first list stays so; without one, the CRM takes its first. */
function united(lists: unknown[]): unknown[] {
	const entries = new Map<string, unknown>();
	const main = [lists[0]].flat().find((entry) => isObject(entry) && entry.primary === true);
	for (const entry of lists.flat()) {
		const value = entryValue(entry);
		const key = isObject(entry) && value !== undefined ? String(value).toLowerCase() : canonicalText(entry);
		if (!entries.has(key)) entries.set(key, isObject(entry) && entry.primary === true && entry !== main ? { ...entry, primary: false } : entry);
	}
	return [...entries.values()];
}
