import type { IDataObject } from 'n8n-workflow';

import { customFieldsIfAny } from '../api/customFields';
import type { Collection } from '../api/http/path';
import { patchReplacing } from '../api/record';
import { isRecordLink, withReplacedIds } from '../api/openapi/linkFields';
import { requireDescribed } from '../api/requireDescribed';
import { canonicalText, isObject } from '../base/json';
import { RecordComparison } from '../fields/recordComparison';
import { allCustomFields, idField, type Field } from '../fields/field';
import { entryValue, listNameOf } from '../fields/keys';
import { fieldValue, nameInEvents, setField } from '../log/eventFields';
import type { IdentifiedRecord, RecordList } from '../lookUp/lookUp';
import { collectionPath } from '../mapping/locator';
import type { NodeRun, Resource } from '../model';
import { hasOnlyBlanks } from '../values/blank';
import { parseOption } from '../values/parsers';
import { fieldRules } from './duplicatesProperties';
import { linkingCollections, type LinkingCollection } from './linkingRecords';
import { type Candidate, entryKey, isList, type MergeRule, mergeRules } from './mergeRules';

/** A field, an object as a whole, and how the values of duplicates become one. */
interface MergedField {
	name: string;
	/** Without one of the user's, lists are united, and other values are as with `notEmpty`. */
	rule: MergeRule;
	hasLists: boolean;
	/** Whether it is the list of a field with its main value: `emails` of `email`. */
	isMainList: boolean;
	/** The field, if it names records. */
	link: Field | undefined;
	/** Whether no two records may have the same value, or it is the list with such values. */
	isUnique: boolean;
}

export interface MergedType {
	resource: Resource;
	recordList: RecordList;
	/** The fields that can be written, each custom field as one of them, and how they are merged. */
	fields: Field[];
	merged: MergedField[];
	/** The standard fields that only a new record gets. */
	onlyCreated: MergedField[];
	compare: RecordComparison;
	/** Whether the service refuses to delete a record that was changed after it was read. */
	deletesVersion: boolean;
	linking: LinkingCollection[];
}

/**
 * Reads what a merge needs to know about the record type.
 *
 * @param linkingTypes the record types whose links move to the survivor
 * @throws Error in the user's words if it cannot be merged without losing something, or for a rule that a field cannot have
 */
export async function readMergedType(run: NodeRun, linkingTypes: Resource[]): Promise<MergedType> {
	const { n8n, api, resource } = run;
	const { list, create, update, delete: deletion, fields: described } = await requireDescribed(run, 'list', 'update', 'delete');
	const path = collectionPath(run, 0);
	const linking = await linkingCollections(api, linkingTypes, path);
	const custom = await customFieldsIfAny(api, path, update.fields);
	const fields = [...update.fields.filter(({ name }) => name !== allCustomFields), ...(custom?.fields ?? [])];
	const rows = n8n.getNodeParameter(`${fieldRules.name}.rows`, 0, []) as Array<{ field?: unknown; rule?: unknown }>;
	const rules = new Map(rows.map(({ field, rule }) => [String(field ?? ''), parseOption('Field Rules', rule, Object.keys(mergeRules) as MergeRule[])]));
	const [twice] = rows.filter(({ field }, i) => rows.findIndex((other) => other.field === field) < i);
	if (twice) throw new Error(`Field Rules: ${String(twice.field)} has several rules. Remove all but one.`);
	const updated = [idField.name, allCustomFields, ...update.fields.map(({ path: [top] }) => top)];
	const created = (create?.fields ?? []).filter(({ path: [top] }) => !updated.includes(top));
	return {
		resource, fields, linking,
		onlyCreated: mergedFields(created, new Map()),
		deletesVersion: deletion.takesIfMatch === true,
		recordList: { api, path, list, filters: list.filters, fields: described.map(({ name }) => name) },
		merged: mergedFields(fields, rules),
		compare: new RecordComparison([...fields, ...created], true),
	};
}

/** @throws Error in the user's words for a rule that a field cannot have */
function mergedFields(fields: Field[], rules: ReadonlyMap<string, MergeRule>): MergedField[] {
	const uniqueNames = new Set(fields.filter(({ unique }) => unique).flatMap((field) => [field.name, listNameOf(field)]));
	const names = new Set(fields.map(({ name }) => nameInEvents(name)));
	for (const [name, rule] of rules) {
		const reason = names.has(name)
			? whyNoRule(rule, name, fields, uniqueNames.has(name))
			: `the CRM has no field ${name} that can be written. Choose another one.`;
		if (reason !== undefined) throw new Error(`Field Rules: ${reason}`);
	}
	const linkOf = (name: string) => fields.find((field) => field.name === name && isRecordLink(field));
	return [...names].map((name) => {
		const isMainList = fields.some((field) => listNameOf(field) === name);
		const hasLists = isMainList || isList(fields.find((field) => field.name === name));
		const rule = rules.get(name) ?? (hasLists ? 'all' : 'notEmpty');
		return { name, rule, hasLists, isMainList, link: linkOf(name), isUnique: uniqueNames.has(name) };
	});
}

/** Why a field cannot have a rule; undefined if it can. An object as a whole is no field, and has no kind. */
function whyNoRule(rule: MergeRule, name: string, fields: Field[], isUnique: boolean): string | undefined {
	const field = fields.find((candidate) => candidate.name === name);
	const label = field?.label ?? name;
	if (isUnique && rule !== 'notEmpty') {
		return `${label} must be unique, so the survivor keeps its value, and gets one only if it has none. Remove the rule.`;
	}
	const reason = mergeRules[rule].whyNotFor?.(field, fields);
	return reason && `${label} ${reason}`;
}

/** The survivor's values after the merge. @param areUnique whether to return those that must be unique, or the others */
export function mergedValues(
	{ merged, recordList }: MergedType, [survivor, ...others]: [IdentifiedRecord, ...IdentifiedRecord[]], areUnique: boolean,
): IDataObject {
	const otherIds = new Set(others.map(({ id }) => id));
	const allIds = new Set([survivor.id, ...otherIds]);
	const changedAt = recordTime(recordList, 'changed');
	const values: IDataObject = {};
	for (const { name, rule, link, isMainList } of merged.filter(({ isUnique }) => isUnique === areUnique)) {
		const candidates = [survivor, ...others].map((record): Candidate => {
			const stored = fieldValue(record, name);
			// Links among the records are dropped.
			const value = link ? withoutLinks(link, stored, recordList.path, record === survivor ? otherIds : allIds) : stored;
			return { record, value, changedAt: changedAt(record) };
		});
		setField(values, name, patchReplacing(fieldValue(survivor, name), mergeRules[rule].merge(candidates, isMainList) ?? null));
	}
	return values;
}

/** The value of a link without those to some records of a collection. */
function withoutLinks(field: Field, value: unknown, collection: Collection, ids: ReadonlySet<string>): unknown {
	const remaining = withReplacedIds(field, value, (target, id) => (target === collection && ids.has(String(id)) ? undefined : id));
	// A link to records of several types is an object around the ID.
	const isLeft = (entry: unknown) => entry !== undefined && !(isObject(entry) && 'id' in entry && entry.id === undefined);
	return Array.isArray(remaining) ? remaining.filter(isLeft) : isLeft(remaining) ? remaining : undefined;
}

const usualTimes = { created: 'created_at', changed: 'updated_at' };

/** When a record was created or last changed, in milliseconds. */
export const recordTime = ({ list }: Pick<RecordList, 'list'>, event: keyof typeof usualTimes) => (record: IDataObject): number =>
	Date.parse(String(record[list[event]?.field ?? usualTimes[event]]));

/** Records in the order of their creation, the same in each run. */
export function oldestFirst(recordList: Pick<RecordList, 'list'>, records: IdentifiedRecord[]): IdentifiedRecord[] {
	const createdAt = recordTime(recordList, 'created');
	return [...records].sort((a, b) => createdAt(a) - createdAt(b) || (a.id < b.id ? -1 : 1));
}

/** The values of the other records, and the entries of their lists, that the survivor does not get. @param values of the survivor */
export function valuesNotKept({ merged, onlyCreated, compare }: MergedType, others: IdentifiedRecord[], values: IDataObject): IDataObject[] {
	return [...merged, ...onlyCreated].flatMap(({ name, hasLists, isMainList }) => {
		const value = fieldValue(values, name);
		const keyOf = (entry: unknown) => entryKey(isMainList && isObject(entry) ? { ...entry, value: inOneCase(entry.value) } : entry);
		const keys = new Set([value].flat().map(keyOf));
		// A second phone number stays in the list of all.
		const inMainList = new Set([fieldValue(values, listNameOf({ name }))].flat().map((entry) => canonicalText(inOneCase(entryValue(entry)))));
		const isThere = (entry: unknown) =>
			(hasLists ? keys.has(keyOf(entry)) : inMainList.has(canonicalText(inOneCase(entry))) || compare.isSame(name, value, entry));
		return others.flatMap((record) => {
			const stored = fieldValue(record, name);
			const lost = (hasLists ? [stored].flat() : [stored]).filter((entry) => !hasOnlyBlanks(entry) && !isThere(entry));
			return lost.map((entry): IDataObject => ({ field: name, id: record.id, value: entry as IDataObject }));
		});
	});
}

/** An email address in any case is one, as in united lists. */
const inOneCase = (value: unknown): unknown => (typeof value === 'string' && value.includes('@') ? value.toLowerCase() : value);
