import type { IDataObject } from 'n8n-workflow';

import { isRecordLink, withReplacedIds } from '../api/openapi/linkFields';
import { canonicalText, isObject } from '../base/json';
import { maxBy } from '../base/lists';
import { allCustomFields, type Field } from '../fields/field';
import { entryValue, listNameOf } from '../fields/keys';
import { isPlainText, valueShape } from '../fields/fieldKinds';
import { eventName, fieldValue, setField } from '../log/eventFields';
import type { IdentifiedRecord } from '../lookUp/lookUp';
import { externalId } from '../lookUp/sourceIds';
import { isUnset } from '../values/blank';

export const ruleNames = ['all', 'externalIds', 'longest', 'newest', 'notEmpty', 'survivor'] as const;
export type Rule = (typeof ruleNames)[number];

/** A field, an object as a whole, and how the values of duplicates become one. */
interface MergedField {
	name: string;
	/** Absent if lists are united, and other values are as with `notEmpty`. */
	rule?: Rule;
	/** The field, if it names records. */
	link?: Field;
	/** Whether no two records may have the same value, or it is the list with such values. */
	isUnique: boolean;
}

/**
 * The fields that a merge writes.
 *
 * @param rules by the name of the field
 * @throws Error in the user's words for a rule that a field cannot have
 */
export function mergedFields(fields: Field[], rules: ReadonlyMap<string, Rule>): MergedField[] {
	const written = fields.filter(({ name }) => name !== allCustomFields);
	const unique = written.filter((field) => field.unique);
	const uniqueNames = new Set(unique.flatMap((field) => [field.name, listNameOf(field)]));
	const names = new Set(written.map(({ name }) => eventName(name)));
	for (const [name, rule] of rules) {
		const { label = name, ...field } = written.find((candidate) => candidate.name === name) ?? ({} as Partial<Field>);
		if (!names.has(name)) throw new Error(`Field Rules: the CRM has no field ${name} that can be written. Choose another one.`);
		if (uniqueNames.has(name) && rule !== 'notEmpty') {
			throw new Error(`Field Rules: ${label} must be unique, so the survivor keeps its value, and gets one only if it has none. Remove the rule.`);
		}
		if (rule === 'all' && field.kind && valueShape(field as Field) !== 'list' && !field.members) throw new Error(`Field Rules: ${label} has one value, so it cannot have all. Choose another rule.`);
		if (rule === 'externalIds' && (!written.some((candidate) => candidate.name === externalId.name) || !field.kind || !isPlainText(field as Field))) {
			throw new Error(`Field Rules: ${label} cannot take the external IDs of deleted records. Choose a text field of records that have an external ID.`);
		}
	}
	return [...names].map((name): MergedField => {
		const [rule, link] = [rules.get(name), written.find((field) => field.name === name && isRecordLink(field))];
		return { name, isUnique: uniqueNames.has(name), ...(rule && { rule }), ...(link && { link }) };
	});
}

/**
 * The values of the survivor after the merge.
 *
 * @param records the survivor first, then the others in order of precedence
 * @param target the collection of the records: links among them are dropped
 * @param changedAt when a record was last changed
 */
export function mergedValues(fields: MergedField[], records: IdentifiedRecord[], target: string, changedAt: (record: IdentifiedRecord) => number): IDataObject {
	const [survivor, ...others] = records;
	const otherIds = new Set(others.map(({ id }) => id));
	const values: IDataObject = {};
	for (const { name, rule, link } of fields) {
		const candidates = records.map((record): Candidate => {
			const stored = fieldValue(record, name);
			const isLoser = otherIds.has(record.id);
			const within = (id: unknown) => otherIds.has(String(id)) || (isLoser && String(id) === survivor!.id);
			const value = link ? withReplacedIds(link, stored, (collection, id) => (collection === target && within(id) ? undefined : id)) : stored;
			return { value: Array.isArray(value) ? value.filter((entry) => entry !== undefined) : value, changedAt: changedAt(record) };
		});
		const value = rule === 'externalIds' ? withExternalIds(candidates[0]!.value, others) : chosenValue(rule, candidates);
		setField(values, name, value ?? null);
	}
	return values;
}

/** The single values of the other records that the survivor does not get. */
export function valuesNotKept(fields: MergedField[], others: IdentifiedRecord[], values: IDataObject): Array<{ field: string; id: string; value: unknown }> {
	return fields.flatMap(({ name }) => {
		// A second phone number stays in the list of all.
		const list = fieldValue(values, listNameOf({ name }));
		const keptValues = new Set([fieldValue(values, name), ...(Array.isArray(list) ? list.map(entryValue) : [])].map(canonicalText));
		return others.flatMap((record) => {
			const value = fieldValue(record, name);
			const isLost = !isUnset(value) && typeof value !== 'object' && !keptValues.has(canonicalText(value));
			return isLost ? [{ field: name, id: record.id, value }] : [];
		});
	});
}

/** A text with the external IDs of records, each once. */
function withExternalIds(text: unknown, records: IdentifiedRecord[]): string {
	const ids = records.flatMap(({ [externalId.name]: id }) => (isUnset(id) ? [] : [String(id)]));
	return [...new Set([...String(text ?? '').split(',').map((id) => id.trim()), ...ids])].filter((id) => id !== '').join(', ');
}

interface Candidate {
	value: unknown;
	changedAt: number;
}

function chosenValue(rule: Rule | undefined, candidates: Candidate[]): unknown {
	const filled = candidates.filter(({ value }) => !isUnset(value));
	const isUnited = rule === 'all' || (rule === undefined && filled.some(({ value }) => Array.isArray(value)));
	if (isUnited) return united(filled.map(({ value }) => value));
	if (rule === 'survivor') return candidates[0]!.value;
	if (rule === 'newest') return maxBy(filled, ({ changedAt }) => changedAt)?.value;
	if (rule === 'longest') return maxBy(filled, ({ value }) => (typeof value === 'string' ? value : canonicalText(value)).length)?.value;
	return filled[0]?.value;
}

/** All entries of lists, each once: addresses in any case. The main one of the first list stays so. */
function united(lists: unknown[]): unknown[] {
	const entries = new Map<string, unknown>();
	for (const entry of lists.flat()) {
		const value = entryValue(entry);
		const key = isObject(entry) && value !== undefined ? String(value).toLowerCase() : canonicalText(entry);
		if (!entries.has(key)) entries.set(key, isObject(entry) && entry.primary === true && entries.size > 0 ? { ...entry, primary: false } : entry);
	}
	return [...entries.values()];
}
