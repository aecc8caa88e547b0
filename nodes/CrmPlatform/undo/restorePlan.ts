import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../base/json';
import type { Field } from '../fields/field';
import { fieldEntries, fieldValue, setField, topLevelName } from './changedField';
import type { CurrentRecords, LivingRecreation } from './currentRecords';
import { withTiedFields } from './equivalentFields';
import { withEntriesUndone } from './fieldHistory';
import { partOfRecord, type RecordHistory } from './recordHistory';
import { withoutWrite, type FieldUndo, type RecordUndo } from './recordUndo';
import { hasNoValue, hasSameValue } from './sameValue';
import type { UndoChoices } from './undoChoices';
import type { WritableFields } from './writableFields';

export interface UndoRules extends Pick<UndoChoices, 'takesPrecedence' | 'isSightLimited'> {
	current: CurrentRecords;
	/** The writable fields, by collection. */
	writableFields: ReadonlyMap<string, WritableFields>;
	/** Replaces the ids of records that were created again in a value of a field. @param linkField the field, if it is a link */
	withNewIds(value: unknown, linkField: Field | undefined): unknown;
	/** Whether a value contains the id of a record whose deletion is undone. */
	linksToDeleted(value: unknown): boolean;
}

/** Plans the undo of a deletion. */
export function planRecreation(history: RecordHistory, rules: UndoRules): RecordUndo {
	const { current, isSightLimited } = rules;
	const { collection, id, recreations: [firstRecreation] } = history;
	const deletion = history.deletion!;
	if (current.livingRecord(collection, id)) return withoutWrite(history, 'conflict', existsAgain);
	if (firstRecreation) {
		const recreation = current.livingRecreation(history);
		if (!recreation) return withoutWrite(history, 'conflict', recreationGone(firstRecreation.id));
		return planRecreationUpdate(history, rules, recreation);
	}
	const mayBeInvisible = !current.record(collection, id) && (current.showsDeleted(collection) || isSightLimited);
	if (mayBeInvisible) return withoutWrite(history, 'cannot_be_undone', maybeNotDeleted);
	const writable = rules.writableFields.get(collection)!;
	if (!writable.canMarkRecreations || !deletion.isCauseReported) return withoutWrite(history, 'cannot_be_undone', recreationUnmarkable);
	if (!writable.isComplete(deletion.record)) return withoutWrite(history, 'cannot_be_undone', partOfRecord);
	const changes = Object.entries(recordBeforeChanges(history, writable, rules))
		.filter(([name, value]) => writable.canCreate(name) && !hasNoValue(value))
		.map(([field, value]): FieldUndo => ({ field, from: null, to: isObject(value) ? withoutNulls(value) : value }));
	return { ...withoutWrite(history, 'undone'), changes, action: 'create' };
}

/** Returns the deleted record with the values from before the workflow's changes. */
function recordBeforeChanges(history: RecordHistory, writable: WritableFields, { takesPrecedence }: UndoRules): IDataObject {
	const record = { ...history.deletion!.record };
	const othersFields = withTiedFields(fieldsOfOthers(history, writable), history, writable);
	for (const [name, field] of history.fields) {
		const deletedValue = fieldValue(record, name);
		if (writable.linkField(name) && Array.isArray(deletedValue) && field.othersSequence !== undefined) {
			setField(record, name, withEntriesUndone(deletedValue, field, (value) => value, takesPrecedence).list);
		} else if (!othersFields.has(name)) setField(record, name, field.before);
	}
	return record;
}

/** Plans to restore the values that are missing in a record that an undo has created in place of a deleted one. */
function planRecreationUpdate(history: RecordHistory, rules: UndoRules, recreation: LivingRecreation): RecordUndo {
	const { withNewIds, takesPrecedence } = rules;
	const writable = rules.writableFields.get(history.collection)!;
	const { id, isToBeUndone, record } = recreation;
	const missingValues = [...history.fields].flatMap(([field, { before, after, isChangedByOthers }]): FieldUndo[] => {
		const linkField = writable.linkField(field);
		const [from, to] = [fieldValue(record, field) ?? null, withNewIds(before, linkField)];
		const isSame = hasSameValue(from, to) || (hasNoValue(from) && hasNoValue(to));
		if (isChangedByOthers || isSame || !writable.canCreate(topLevelName(field))) return [];
		// If only the deletion was undone before, the record still has the workflow's value.
		const isWritten = !isToBeUndone && writable.canUpdate(topLevelName(field)) && (takesPrecedence || hasSameValue(from, withNewIds(after, linkField)));
		return [{ field, from, to, ...(!isWritten && { kept: true }) }];
	});
	const changes = [
		...withTiedFieldsKept(missingValues, fieldsOfOthers(history, writable), history, writable),
		...missingLinks(history, writable, rules, recreation),
	];
	const isKept = changes.some(({ kept }) => kept);
	const isWritten = changes.some(({ kept }) => !kept);
	return {
		...withoutWrite(history, isKept ? 'conflict' : isWritten ? 'undone' : 'already_so', isKept ? recreationDiffers(id) : createdAgain(id)),
		changes,
		newId: id,
		...(isWritten && { action: 'update' as const, current: record }),
	};
}

/** Finds the links of a record to records that were created again after it. */
function missingLinks(
	history: RecordHistory,
	writable: WritableFields,
	{ linksToDeleted, withNewIds }: UndoRules,
	{ isToBeUndone, isChanged, record }: LivingRecreation,
): FieldUndo[] {
	if (isToBeUndone || isChanged) return [];
	return fieldEntries(history.deletion!.record).flatMap(([field, value]): FieldUndo[] => {
		const from = fieldValue(record, field) ?? null;
		const isMissing = linksToDeleted(value) && hasNoValue(from) && writable.canUpdate(topLevelName(field)) && !history.fields.has(field);
		return isMissing ? [{ field, from, to: withNewIds(value, writable.linkField(field)) }] : [];
	});
}

/**
 * Finds the fields that someone else has changed since, and the fields tied to a field that someone else has changed after the
 * workflow's first change. In a list of links, each entry is judged by itself.
 */
function fieldsOfOthers(history: RecordHistory, writable: WritableFields): string[] {
	const { fields } = history;
	const changedSince = [...fields].flatMap(([name, { isChangedByOthers }]) => (isChangedByOthers ? [name] : []));
	const tied = [...fields].flatMap(([name, { othersSequence }]) => {
		if (othersSequence === undefined || writable.linkField(name)) return [];
		const isAffected = (other: string) => !writable.linkField(other) && othersSequence > (fields.get(other)?.firstSequence ?? Infinity);
		return [...withTiedFields([name], history, writable)].filter(isAffected);
	});
	return [...new Set([...changedSince, ...tied])];
}

/** Keeps the fields that are tied to a kept field, or to a field of others. */
function withTiedFieldsKept(changes: FieldUndo[], othersFields: string[], history: RecordHistory, writable: WritableFields): FieldUndo[] {
	const keptNames = changes.flatMap(({ field, kept }) => (kept ? [field] : []));
	const tiedFields = withTiedFields([...othersFields, ...keptNames], history, writable);
	return changes.map((change) => (tiedFields.has(change.field) ? { ...change, kept: true } : change));
}

/** Plans to restore the fields of an existing record. */
export function planUpdate(history: RecordHistory, rules: UndoRules, record: IDataObject): RecordUndo {
	const writable = rules.writableFields.get(history.collection)!;
	// An undo has created the record in place of another, and nobody has changed it since.
	if (history.fields.size === 0) return withoutWrite(history, 'already_so', hasValues);
	if (![...history.fields.keys()].some((name) => writable.canUpdate(topLevelName(name)))) {
		return withoutWrite(history, 'cannot_be_undone', setByService([...history.fields.keys()]));
	}
	const changes = withTiedFieldsKept(fieldChanges(history, rules, writable, record), [], history, writable);
	const isConflict = changes.some(({ kept }) => kept);
	const isWritten = changes.some(({ kept }) => !kept);
	if (!isConflict && !isWritten) return { ...withoutWrite(history, 'already_so', hasValues), current: record };
	return {
		...withoutWrite(history, isConflict ? 'conflict' : 'undone', isConflict ? fieldsChangedSince : undefined),
		changes,
		current: record,
		...(isWritten && { action: 'update' as const }),
	};
}

/** Decides what to do with each field that differs from its previous value. */
function fieldChanges(
	history: RecordHistory,
	{ takesPrecedence, withNewIds }: UndoRules,
	writable: WritableFields,
	record: IDataObject,
): FieldUndo[] {
	const othersFields = fieldsOfOthers(history, writable);
	const undoneLists = new Map<string, unknown[]>();
	const changes = [...history.fields].flatMap(([field, values]): FieldUndo[] => {
		if (!writable.canUpdate(topLevelName(field))) return [];
		const from = fieldValue(record, field) ?? null;
		const linkField = writable.linkField(field);
		const isChangedSince = othersFields.includes(field) || !hasSameValue(from, withNewIds(values.after, linkField));
		if ((isChangedSince || values.othersSequence !== undefined) && linkField && Array.isArray(from)) {
			const replaceIds = (entry: unknown) => withNewIds(entry, linkField);
			const { list, hasKeptEntries } = withEntriesUndone(from, values, replaceIds, takesPrecedence);
			undoneLists.set(field, list);
			if (!hasSameValue(from, list)) return [{ field, from, to: list }];
			// Others have since decided about all entries that the workflow has changed.
			return hasKeptEntries ? [{ field, from, to: withEntriesUndone(from, values, replaceIds, true).list, kept: true }] : [];
		}
		const to = withNewIds(values.before, linkField);
		if (hasSameValue(from, to)) return [];
		return [{ field, from, to, ...(isChangedSince && !takesPrecedence && { kept: true as const }) }];
	});
	// A field such as the main contact must be an entry of its list, so it cannot return if the list lacks it.
	const isMissingInList = ({ field, to }: FieldUndo) =>
		isId(to) && [...(history.equivalentFields?.get(field) ?? [])].some((list) => undoneLists.get(list)?.includes(to) === false);
	return changes.map((change): FieldUndo => (isMissingInList(change) && !takesPrecedence ? { ...change, kept: true } : change));
}

const isId = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

const withoutNulls = (value: IDataObject): IDataObject =>
	Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));

const hasValues = 'The record already has its previous values.';
const createdAgain = (id: string) => `It was created again as ${id}.`;
const recreationDiffers = (id: string) => `It was created again as ${id}. Its values differ from those before the changes, and were kept.`;
const recreationGone = (id: string) => `It was created again as ${id}, which has been deleted since.`;
export const existsAgain = 'The record was deleted, but exists again.';
const fieldsChangedSince =
	'Someone else has since changed these fields, or fields that the CRM changes with them. The current values were kept.';
const maybeNotDeleted = 'The CRM does not show that the record was deleted: it may only be invisible to the credential.';
const recreationUnmarkable =
	'The CRM’s idempotency keys have no room to mark a re-created record, so a second undo would create it twice.';
const setByService = (names: string[]) => `Only fields that the CRM sets were changed: ${names.join(', ')}.`;
