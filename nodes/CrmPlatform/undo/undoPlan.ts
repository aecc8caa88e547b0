import type { IDataObject } from 'n8n-workflow';

import type { Connection } from '../api/connection';
import { patchReplacing } from '../api/record';
import { canonicalText, idText } from '../base/json';
import type { FieldChange } from '../changes/apply';
import type { Field } from '../fields/field';
import { fieldEntries, fieldValue, nameInEvents, setField } from '../log/eventFields';
import { recordsById, includingDeleted, isDeletedIn } from '../lookUp/lookUp';
import { hasOnlyBlanks } from '../values/blank';
import { type LinkTargets, lookUpTargets, withLiveLinks } from './undoLinks';
import type { LoggedChanges } from './loggedChanges';
import { explain, type Explanation } from './reasons';
import { type FieldHistory, type RecordHistory, recordKey, type Substitutes, withSubstitutes } from './recordHistories';
import { allKept, notWritten, type RecordToUndo, type RecordUndo, withCopies, withExplanations } from './recordUndo';
import type { UndoSettings } from './undoSettings';

interface UndoRules extends Pick<UndoSettings, 'takesPrecedence' | 'isSightLimited'> {
	/** The keys of the records that the log reports as deleted, but that may only be invisible to the credential. */
	invisible: ReadonlySet<string>;
	/** For deleted records: the ids of those in their place. */
	newIds: Substitutes;
}

export interface UndoPlan {
	planned: RecordUndo[];
	targets: LinkTargets;
}

/**
 * Decides what happens to each record, and looks up what it links to. A created record stays if another one links to it when
 * the undo is done.
 *
 * @throws NodeApiError if the service does not answer
 */
export async function planUndo(
	api: Connection, settings: UndoSettings, { fields, links, histories: { recreations } }: LoggedChanges, histories: RecordHistory[],
): Promise<UndoPlan> {
	const invisible = settings.isSightLimited ? await readInvisible(api, histories) : new Set<string>();
	const rules = { ...settings, invisible, newIds: recreations.newIds('last') };
	const undos = histories.map((history) => planRecord({ history, fields: fields.get(history.collection)! }, rules));
	const targets = await lookUpTargets(api, recreations.newIds('existing'), undos);
	const creations = new Set(undos.flatMap(({ action, history }) => (action === 'create' ? [history.key] : [])));
	const linked = undos.map((undo) => withLiveLinks(targets, undo, creations));
	const linkedKeys = links.linkedKeys(linked, 'done');
	const planned = linked.map((undo) =>
		(undo.action === 'delete' && linkedKeys.has(undo.history.key) ? notWritten(undo, explain('linkedSince')) : undo));
	return { planned, targets };
}

/**
 * The keys of the records that the log reports as deleted, but that the CRM does not show as deleted: for a user, a record
 * that becomes invisible is reported as deleted, too.
 */
async function readInvisible(api: Connection, histories: RecordHistory[]): Promise<ReadonlySet<string>> {
	const gone = histories.filter(({ notUndoable, lastLogged }) => notUndoable === undefined && !lastLogged);
	const invisible = new Set(gone.map(({ key }) => key));
	for (const [collection, template] of new Map(gone.map((history) => [history.collection, history.template]))) {
		const { list } = (await api.describe(template)) ?? {};
		if (!list?.deleted) continue;
		const ids = gone.flatMap((history) => (history.collection === collection ? [history.id] : []));
		const found = await recordsById(api, { path: collection, list, fields: [list.deleted.field] }, ids, includingDeleted(list));
		for (const [id, record] of found) if (isDeletedIn(list, record)) invisible.delete(recordKey({ collection, id }));
	}
	return invisible;
}

/** The first case that applies. */
function planRecord(toUndo: RecordToUndo, rules: UndoRules): RecordUndo {
	const { notUndoable, deletion, lastLogged, isCreated } = toUndo.history;
	if (notUndoable) return notWritten(toUndo, notUndoable);
	if (deletion && lastLogged) return notWritten(toUndo, explain('existsAgain'));
	if (isCreated) return planCreated(toUndo, rules);
	return deletion ? planDeleted(toUndo, rules) : planChanged(toUndo, rules);
}

/** A record that the changes to undo created is deleted. */
function planCreated(toUndo: RecordToUndo, { takesPrecedence, isSightLimited, invisible }: UndoRules): RecordUndo {
	const { lastLogged, fieldHistories, key } = toUndo.history;
	if (!lastLogged) {
		const recreation = livingRecreation(toUndo.history);
		if (!recreation || recreation.isToUndo) return notWritten(toUndo, explain(invisible.has(key) ? 'invisible' : 'alreadyGone'));
		return notWritten(toUndo, explain('recreationKept', recreation.id), recreation.id);
	}
	const isChangedSince = [...fieldHistories.values()].some((field) => lastByOthers(field) !== undefined);
	if (isChangedSince && !takesPrecedence) return notWritten(toUndo, explain('changedSince'));
	if (isSightLimited && !takesPrecedence) return notWritten(toUndo, explain('maybeLinked'));
	return { ...toUndo, result: 'undone', changes: [], action: 'delete', record: lastLogged };
}

/** A record that the changes to undo deleted is created again, with the values from before them. */
function planDeleted(toUndo: RecordToUndo, rules: UndoRules): RecordUndo {
	const { history, fields } = toUndo;
	const recreation = livingRecreation(history);
	const [gone] = history.recreations;
	if (recreation) return withCopies(planRecreated(toUndo, recreation, rules));
	if (gone) return notWritten(toUndo, explain('goneAgain', gone.id));
	if (rules.invisible.has(history.key)) return notWritten(toUndo, explain('maybeNotDeleted'));
	if (!fields.canMarkRecreations) return notWritten(toUndo, explain('unmarkable'));
	const { changes } = fields.compare.difference({}, recordBeforeChanges(toUndo, rules).restored);
	const isSent = ({ field }: FieldChange) => fields.canWrite('create', field);
	const notSent = changes.filter((change) => !isSent(change) && fields.canWrite('update', change.field));
	return { ...toUndo, result: 'undone', changes: changes.filter(isSent), notSent, action: 'create' };
}

type LivingRecreation = RecordHistory['recreations'][number] & { record: IDataObject };

/** The existing record that an undo, whoever ran it, has created in place of a deleted one. */
const livingRecreation = ({ recreations }: RecordHistory) =>
	recreations.find((recreation): recreation is LivingRecreation => recreation.record !== undefined);

/** A record that an undo has created again gets what that undo could not restore. Values that have changed since are kept. */
function planRecreated(toUndo: RecordToUndo, { id: newId, record, changed }: LivingRecreation, rules: UndoRules): RecordUndo {
	const { history, fields } = toUndo;
	const recordBefore = (takesPrecedence: boolean) => {
		const before = recordBeforeChanges(toUndo, { ...rules, takesPrecedence });
		for (const [name, value] of fieldEntries(before.restored)) {
			setField(before.restored, name, withSubstitutes(rules.newIds, fields.linkField(name), value));
		}
		return before;
	};
	const [withOthers, withoutOthers] = [recordBefore(false), recordBefore(true)];
	// Whether or not that undo took precedence, it created the record with the previous values of these fields.
	const isOwn = (name: string) => !history.fieldHistories.get(name)!.othersSince && !withOthers.keptNames.has(name);
	const ownNames = writableNames(toUndo).filter(isOwn);
	const differing = allKept(restoringChanges(toUndo, rules, ownNames, record).changes);
	// Of the other fields, it gets what it lacks, such as a link to a record that did not exist then.
	const decidedNames = new Set([...ownNames, ...changed]);
	// If that undo took precedence, it overwrote others' values. What is empty may also be what it could not restore.
	const isOverwritten = ({ field, from }: FieldChange) =>
		!hasOnlyBlanks(from) && fields.compare.isSame(field, from, fieldValue(withoutOthers.restored, field));
	const isLacking = (change: FieldChange) => !decidedNames.has(nameInEvents(change.field)) && !isOverwritten(change)
		&& fields.canWrite('create', change.field) && fields.canWrite('update', change.field);
	const { restored } = rules.takesPrecedence ? withoutOthers : withOthers;
	const lacking = fields.compare.difference(record, restored).changes.filter(isLacking);
	const undo = { ...toUndo, newId, changes: [...differing, ...lacking] };
	const planned: RecordUndo = lacking.length > 0
		? { ...undo, result: 'undone', action: 'update', record }
		: { ...undo, ...explain('createdAgain', newId) };
	return differing.length > 0 ? withExplanations(planned, explain('hasOtherValues')) : planned;
}

/** The changed fields get their previous values; if somebody else has deleted the record, in the one that an undo has created in its place. */
function planChanged(toUndo: RecordToUndo, rules: UndoRules): RecordUndo {
	const { lastLogged, fieldHistories, key } = toUndo.history;
	const recreation = lastLogged ? undefined : livingRecreation(toUndo.history);
	const record = lastLogged ?? recreation?.record;
	if (!record) return notWritten(toUndo, explain(rules.invisible.has(key) ? 'invisible' : 'deletedSince'));
	const names = writableNames(toUndo);
	if (names.length === 0 && fieldHistories.size > 0) {
		return notWritten(toUndo, explain('setByService', [...fieldHistories.keys()].join(', ')), recreation?.id);
	}
	const { changes, explanations } = restoringChanges(toUndo, rules, names, record);
	if (changes.length === 0) return notWritten(toUndo, explain('hasValues'), recreation?.id);
	const isWritten = changes.some(({ kept }) => !kept);
	const isNotSent = ([name, { othersSince }]: [string, FieldHistory]) =>
		!names.includes(name) && othersSince === undefined && !toUndo.fields.isOfEachChange(name);
	const notSent = [...fieldHistories].filter(isNotSent).map(([field, { before }]) => ({ field, from: fieldValue(record, field), to: before }));
	const undo: RecordUndo = { ...toUndo, result: 'undone', changes, notSent, newId: recreation?.id, ...(isWritten && { action: 'update', record }) };
	return withExplanations(undo, ...explanations);
}

/** Sequence of the last change of a field by someone else since the first change to undo. */
const lastByOthers = ({ othersBefore, othersSince }: FieldHistory): number | undefined => othersSince ?? othersBefore;

const writableNames = ({ history, fields }: RecordToUndo): string[] =>
	[...history.fieldHistories.keys()].filter((name) => fields.canWrite('update', name));

/** Why a field keeps its value, in the order in which outputs say it. */
const keepingReasons = ['fieldsChangedSince', 'missingInList', 'fieldsTied'] as const;
type KeepingReason = (typeof keepingReasons)[number];

/**
 * A value that is no longer as the changes to undo made it belongs to others, and is kept, together with the fields that the CRM changes with it.
 *
 * @returns the changes, and why some of them are kept
 */
function restoringChanges(
	toUndo: RecordToUndo, rules: UndoRules, names: string[], record: IDataObject,
): { changes: FieldChange[]; explanations: Explanation[] } {
	const { compare } = toUndo.fields;
	const restorations = restorationsOf(toUndo, names, record, rules);
	const [asChanged, restored]: [IDataObject, IDataObject] = [{}, {}];
	for (const [name, restoration] of restorations) {
		setField(asChanged, name, restoration.asChanged);
		setField(restored, name, patchReplacing(fieldValue(record, name), restoration.restored));
	}
	// Of an object, the changes to undo may have changed only some members.
	const wasChanged = ({ field, to }: FieldChange) => !compare.isSame(field, fieldValue(asChanged, field), to);
	const changes = compare.difference(record, restored).changes.filter(wasChanged);
	const changedNames = new Set(changes.map(({ field }) => nameInEvents(field)));
	const keptBecause = reasonsToKeep(rules.takesPrecedence ? [] : changedNames, toUndo, restorations);
	const explanations = keepingReasons.flatMap((reason) => {
		const keptFields = changes.flatMap(({ field }) => (keptBecause.get(nameInEvents(field)) === reason ? [field] : []));
		return keptFields.length > 0 ? [explain(reason, keptFields.join(', '))] : [];
	});
	const isKept = ({ field }: FieldChange) => keptBecause.has(nameInEvents(field));
	return { changes: changes.map((change): FieldChange => (isKept(change) ? { ...change, kept: true } : change)), explanations };
}

interface Restoration {
	/** The field after the changes to undo; a contested list, as it is now. */
	asChanged: unknown;
	/** The field as it is to become. */
	restored: unknown;
	/** Whether someone else has changed it since, so that it is kept unless the undo takes precedence; of a contested list, all that would be undone. */
	isChangedSince: boolean;
	/** Whether it is a list of links that others have changed, too: each entry is undone or kept by itself. */
	isContestedList: boolean;
}

const restorationsOf = (toUndo: RecordToUndo, names: string[], record: IDataObject, rules: UndoRules): ReadonlyMap<string, Restoration> =>
	new Map(names.map((name) => [name, restorationOf(toUndo, name, fieldValue(record, name), rules)]));

/** @param current the value of the field now */
function restorationOf({ history, fields }: RecordToUndo, name: string, current: unknown, rules: UndoRules): Restoration {
	const fieldHistory = history.fieldHistories.get(name)!;
	const link = fields.linkField(name);
	const [before, asChanged, now] = [fieldHistory.before, fieldHistory.after, current].map((value) => withSubstitutes(rules.newIds, link, value));
	const isAsChanged = fields.compare.isSame(name, now, asChanged);
	const isContested = lastByOthers(fieldHistory) !== undefined || !isAsChanged;
	if (link && Array.isArray(now) && isContested) return contestedRestoration(link, fieldHistory, now, rules);
	return { asChanged, restored: before, isChangedSince: fieldHistory.othersSince !== undefined || !isAsChanged, isContestedList: false };
}

/** In a contested list, only those entries are undone that are still as the changes to undo made them. */
function contestedRestoration(link: Field, { entries }: FieldHistory, now: unknown[], { takesPrecedence, newIds }: UndoRules): Restoration {
	const keys = new Set(now.map(canonicalText));
	const asMade = [...entries.values()].flatMap(({ entry, moves: { before, after, othersSince } }) => {
		const current = withSubstitutes(newIds, link, entry);
		const [key, wasAdded] = [canonicalText(current), after === true];
		return before === after || keys.has(key) !== wasAdded ? [] : [{ entry: current, key, wasAdded, isChangedSince: othersSince !== undefined }];
	});
	const undone = asMade.filter(({ isChangedSince }) => takesPrecedence || !isChangedSince);
	const isChangedSince = undone.length === 0 && asMade.length > 0;
	const moved = isChangedSince ? asMade : undone;
	const addedKeys = new Set(moved.flatMap(({ wasAdded, key }) => (wasAdded ? [key] : [])));
	const others = now.filter((entry) => !addedKeys.has(canonicalText(entry)));
	const restored = [...others, ...moved.flatMap(({ wasAdded, entry }) => (wasAdded ? [] : [entry]))];
	return { asChanged: now, restored, isChangedSince, isContestedList: true };
}

/** Why some of these fields keep their values: each for itself, and those that the CRM changes with them. */
function reasonsToKeep(
	names: Iterable<string>, toUndo: RecordToUndo, restorations: ReadonlyMap<string, Restoration>,
): ReadonlyMap<string, KeepingReason> {
	const { fields } = toUndo;
	const reasons = new Map<string, KeepingReason>();
	for (const name of names) {
		const { isChangedSince, isContestedList, restored } = restorations.get(name)!;
		// A field such as the main contact must be an entry of its list, so it cannot return if the list lacks it.
		const id = idText(restored);
		const isMissing = (other: string) => {
			const list = restorations.get(other);
			if (id === undefined || !list?.isContestedList) return false;
			// As it becomes unless the undo takes precedence.
			return !((list.isChangedSince ? list.asChanged : list.restored) as unknown[]).map(idText).includes(id);
		};
		if (isChangedSince) reasons.set(name, 'fieldsChangedSince');
		else if (fields.dependentFields(name).some(isMissing)) reasons.set(name, 'missingInList');
		else if (!isContestedList && isTiedToOthers(toUndo, name)) reasons.set(name, 'fieldsTied');
	}
	for (const name of fields.withDependents([...reasons.keys()])) {
		// If a list is kept as a whole, it is what others have changed that counts.
		if (!reasons.has(name)) reasons.set(name, restorations.get(name)?.isContestedList ? 'fieldsChangedSince' : 'fieldsTied');
	}
	return reasons;
}

/** Whether others, after the first change to undo of a field, have changed one that the CRM changes with it. Lists of links are judged by entry. */
function isTiedToOthers({ history: { fieldHistories }, fields }: RecordToUndo, name: string): boolean {
	if (fields.linkField(name)) return false;
	const since = fieldHistories.get(name)?.firstSequence ?? Infinity;
	const tied = [...fields.withDependents([name])].flatMap((other) => (fields.linkField(other) ? [] : fieldHistories.get(other) ?? []));
	return tied.some((other) => (lastByOthers(other) ?? 0) > since);
}

/** A deleted record as before the changes to undo, but with its last values of the fields that others have changed, or that must stay with these. */
function recordBeforeChanges(toUndo: RecordToUndo, rules: UndoRules): { restored: IDataObject; keptNames: ReadonlySet<string> } {
	const { history, fields } = toUndo;
	const { record, fieldHistories } = history.deletion!;
	const [restored, names] = [{ ...record }, [...fieldHistories.keys()]];
	const atDeletion = { ...toUndo, history: { ...history, fieldHistories } };
	const restorations = restorationsOf(atDeletion, names, restored, rules);
	const keptBecause = reasonsToKeep(rules.takesPrecedence ? [] : names, atDeletion, restorations);
	// A main contact that is kept stays in its list.
	const lacksKept = (name: string, list: unknown) => fields.dependentFields(name).some((other) => {
		const id = idText(withSubstitutes(rules.newIds, fields.linkField(other), fieldValue(record, other)));
		return keptBecause.has(other) && id !== undefined && !(list as unknown[]).map(idText).includes(id);
	});
	const keptNames = new Set([...restorations].flatMap(([name, { isContestedList, isChangedSince, restored: list }]) =>
		((isContestedList ? isChangedSince || lacksKept(name, list) : keptBecause.has(name)) ? [name] : [])));
	for (const [name, { restored: value }] of restorations) if (!keptNames.has(name)) setField(restored, name, value);
	return { restored, keptNames };
}
