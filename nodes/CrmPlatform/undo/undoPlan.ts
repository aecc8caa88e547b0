import type { IDataObject } from 'n8n-workflow';

import type { Change } from '../changes/merge';
import { eventName, fieldValue, setField } from '../log/eventFields';
import { allKept, livingRecreation, type RecordHistory, type RecordUndo, withEntriesUndone } from './history';
import { type LiveLinks, recordKey } from './links';
import { because, sentences } from './reasons';
import type { FieldsByCollection, UndoFields } from './undoFields';
import type { UndoChoices } from './undoForm';

interface UndoRules extends Pick<UndoChoices, 'takesPrecedence' | 'isSightLimited'> {
	/** The keys of the records that the log reports as deleted, but that may only be invisible to the credential. */
	invisible: ReadonlySet<string>;
	fields: FieldsByCollection;
	links: LiveLinks;
}

/** Decides what happens to a record: the first case that applies. */
export function planRecord(history: RecordHistory, rules: UndoRules): RecordUndo {
	const { current, isCreated, deletion, problem, collection } = history;
	const { takesPrecedence } = rules;
	const leave = (...reason: Parameters<typeof because>): RecordUndo => ({ history, changes: [], ...because(...reason) });
	const recreation = livingRecreation(history);
	const newId = recreation && { newId: recreation.id };
	const isInvisible = rules.invisible.has(recordKey(history));
	const belongsToOthers = history.changedByOthers.size > 0 && !takesPrecedence;

	if (problem) return { history, changes: [], ...problem };
	if (deletion && current) return leave('existsAgain');
	if (isCreated && current) {
		if (belongsToOthers) return leave('changedSince');
		if (rules.isSightLimited && !takesPrecedence) return leave('maybeLinked');
		return { history, result: 'undone', changes: [], action: 'delete', record: current };
	}
	if (isCreated) {
		if (recreation && !recreation.isToBeUndone) return { ...leave('recreationKept', recreation.id), ...newId };
		if (deletion && belongsToOthers) return leave('deletedWithChanges');
		return leave(isInvisible ? 'invisible' : 'alreadyGone');
	}

	const fields = rules.fields.get(collection)!;
	const names = [...history.fields.keys()];
	if (deletion && recreation) {
		// It was created with the values that others had given the deleted record.
		const ownNames = names.filter((name) => fields.canWrite('update', name) && !history.fields.get(name)!.isChangedByOthers);
		const changes = allKept(restoringChanges(history, rules, ownNames, recreation.record).changes);
		const copies = history.recreations.filter(({ id, record }) => id !== recreation.id && record);
		const again = because('createdAgain', recreation.id);
		const others = [...(changes.length > 0 ? [because('hasOtherValues')] : []), ...copies.map(({ id }) => because('createdTwice', id))];
		const reason = sentences(again.reason, ...others.map((other) => other.reason));
		return { history, ...newId, changes, result: changes.length > 0 ? 'conflict' : again.result, reason };
	}
	if (deletion) {
		const [gone] = history.recreations;
		if (gone) return leave('goneAgain', gone.id);
		if (isInvisible) return leave('maybeNotDeleted');
		if (!fields.canMarkRecreations) return leave('unmarkable');
		const { changes } = fields.compare.difference({}, recordBeforeChanges(history, fields, takesPrecedence));
		return { history, result: 'undone', changes: changes.filter(({ field }) => fields.canWrite('create', field)), action: 'create' };
	}

	// Somebody else may have deleted the record. If an undo has created it again, its fields are restored there.
	const record = current ?? recreation?.record;
	if (!record) return leave(isInvisible ? 'invisible' : 'deletedSince');
	const place = current ? {} : newId;
	const writable = names.filter((name) => fields.canWrite('update', name));
	if (names.length > 0 && writable.length === 0) return { ...leave('setByService', names.join(', ')), ...place };
	const { changes, reason } = restoringChanges(history, rules, writable, record);
	if (changes.length === 0) return { ...leave('hasValues'), ...place };
	return {
		history,
		...place,
		...(reason === undefined ? { result: 'undone' } : { result: 'conflict', reason }),
		changes,
		...(changes.some(({ kept }) => !kept) && { action: 'update', record }),
	};
}

/** Returns the deleted record with the values from before the workflow's changes. */
function recordBeforeChanges(history: RecordHistory, fields: UndoFields, takesPrecedence: boolean): IDataObject {
	const record = { ...history.deletion!.record };
	const othersFields = fields.withDependents(fieldsOfOthers(history, fields));
	for (const [name, field] of history.fields) {
		const deletedValue = fieldValue(record, name);
		if (fields.linkField(name) && Array.isArray(deletedValue) && field.othersSequence !== undefined) {
			setField(record, name, withEntriesUndone(deletedValue, field, (value) => value, takesPrecedence).list);
		} else if (!othersFields.has(name)) setField(record, name, field.before);
	}
	return record;
}

/**
 * Finds the fields that belong to others: those that they have changed since, and those tied to a field that they have
 * changed after the workflow's first change. In a list of links, each entry is judged by itself.
 */
function fieldsOfOthers({ fields: histories }: RecordHistory, fields: UndoFields): Set<string> {
	const isTiedToOthers = (name: string, since: number) =>
		!fields.linkField(name) &&
		[...fields.withDependents([name])].some((other) => !fields.linkField(other) && (histories.get(other)?.othersSequence ?? 0) > since);
	return new Set([...histories].flatMap(([name, { isChangedByOthers, firstSequence }]) =>
		isChangedByOthers || isTiedToOthers(name, firstSequence) ? [name] : [],
	));
}

/**
 * The changes that give a record the values from before the workflow's changes. A value that is no longer as the workflow
 * left it belongs to others, and is kept, together with the fields that the CRM changes with it. Entries of lists of links
 * that others have changed, too, are undone one by one.
 */
function restoringChanges(
	history: RecordHistory,
	{ takesPrecedence, links, fields: fieldsByCollection }: UndoRules,
	names: string[],
	record: IDataObject,
): { changes: Change[]; reason?: string } {
	const fields = fieldsByCollection.get(history.collection)!;
	const othersFields = fieldsOfOthers(history, fields);
	/** The record as the workflow left it, and as it was before. */
	const [left, target]: [IDataObject, IDataObject] = [{}, {}];
	const undoneLists = new Map<string, unknown[]>();
	for (const name of names) {
		const values = history.fields.get(name)!;
		const linkField = fields.linkField(name);
		const replaceIds = (value: unknown) => links.withNewIds(value, linkField);
		const [from, after] = [fieldValue(record, name) ?? null, replaceIds(values.after)];
		const isShared = values.othersSequence !== undefined || othersFields.has(name) || !fields.isSame(name, from, after);
		if (isShared && linkField && Array.isArray(from)) {
			const { list, isKept } = withEntriesUndone(from, values, replaceIds, takesPrecedence);
			undoneLists.set(name, list);
			if (isKept) othersFields.add(name);
			else othersFields.delete(name);
			setField(left, name, from);
			setField(target, name, isKept ? withEntriesUndone(from, values, replaceIds, true).list : list);
		} else {
			setField(left, name, after);
			setField(target, name, replaceIds(values.before));
		}
	}
	// Of an object, the workflow may have changed only some members.
	const changedFields = new Set(fields.compare.difference(left, target).changes.map(({ field }) => field));
	const { changes } = fields.compare.difference(record, target, (field) => changedFields.has(field));
	if (takesPrecedence) return { changes };
	const isReplaced = ({ field, from }: Change) => !fields.isSame(field, from, fieldValue(left, field));
	// A field such as the main contact must be an entry of its list, so it cannot return if the list lacks it.
	const isMissingInList = ({ field, to }: Change) =>
		isId(to) && fields.dependentFields(field).some((list) => undoneLists.get(list)?.includes(to) === false);
	const decided = fields.withKept(changes, (change) => othersFields.has(eventName(change.field)) || isReplaced(change) || isMissingInList(change));
	const keptChanges = decided.filter(({ kept }) => kept);
	if (keptChanges.length === 0) return { changes: decided };
	const isChangedByOthers = (change: Change) =>
		history.fields.get(eventName(change.field))?.isChangedByOthers === true || undoneLists.has(change.field) || isReplaced(change);
	const whyKept = (change: Change) => (isChangedByOthers(change) ? 'fieldsChangedSince' : isMissingInList(change) ? 'missingInList' : 'fieldsTied');
	const reasons = (['fieldsChangedSince', 'missingInList', 'fieldsTied'] as const).flatMap((name) => {
		const names = keptChanges.flatMap((change) => (whyKept(change) === name ? [change.field] : []));
		return names.length > 0 ? [because(name, names.join(', ')).reason] : [];
	});
	return { changes: decided, reason: sentences(...reasons) };
}

const isId = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';
