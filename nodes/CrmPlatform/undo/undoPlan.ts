import type { Connection } from '../api/connection';
import type { FieldChange } from '../changes/plan';
import { eventName, fieldEntries, setField } from '../log/eventFields';
import { recordsById } from '../lookUp/byId';
import { includingDeleted, isDeletedIn } from '../lookUp/recordList';
import { lastByOthers } from './fieldHistory';
import { type LiveLinks, readLiveLinks, withLiveLinks } from './liveLinks';
import type { LoggedChanges } from './loggedChanges';
import { recordKey } from './loggedEvent';
import { explain } from './reasons';
import { type LivingRecreation, livingRecreation, type RecordHistory } from './recordHistories';
import { allKept, notWritten, type RecordToUndo, type RecordUndo, type UndoRules, withCopies, withExplanations } from './recordUndo';
import { withSubstitutes } from './recreations';
import { recordBeforeChanges, restoringChanges } from './restoredFields';
import type { UndoChoices } from './undoForm';

/**
 * Decides what happens to each record. A created record stays if another one links to it when the undo is done.
 *
 * @returns also the records that the plan links to
 * @throws NodeApiError if the service does not answer
 */
export async function planUndo(
	api: Connection, choices: UndoChoices, { fields, linksToCreated, recreations }: LoggedChanges, histories: RecordHistory[],
): Promise<{ planned: RecordUndo[]; links: LiveLinks }> {
	const invisible = choices.isSightLimited ? await readInvisible(api, histories) : new Set<string>();
	const rules = { ...choices, invisible, newIds: recreations.newIds('last') };
	const undos = histories.map((history) => planRecord({ history, fields: fields.get(history.collection)! }, rules));
	const links = await readLiveLinks(api, recreations.newIds('existing'), undos);
	const creations = new Set(undos.flatMap(({ action, history }) => (action === 'create' ? [history.key] : [])));
	const linked = undos.map((undo) => withLiveLinks(links, undo, creations));
	const linkedKeys = linksToCreated.linkedKeys(linked, 'done', choices);
	const planned = linked.map((undo) =>
		(undo.action === 'delete' && linkedKeys.has(undo.history.key) ? notWritten(undo, explain('linkedSince')) : undo));
	return { planned, links };
}

/**
 * The keys of the records that the log reports as deleted, but that the CRM does not show as deleted: for a user, a record
 * that becomes invisible is reported as deleted, too.
 */
async function readInvisible(api: Connection, histories: RecordHistory[]): Promise<ReadonlySet<string>> {
	const gone = histories.filter(({ problem, current }) => problem === undefined && !current);
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
	const { problem, deletion, current, isCreated } = toUndo.history;
	if (problem) return notWritten(toUndo, problem);
	if (deletion && current) return notWritten(toUndo, explain('existsAgain'));
	if (isCreated) return planCreated(toUndo, rules);
	return deletion ? planDeleted(toUndo, rules) : planChanged(toUndo, rules);
}

/** A record that the changes to undo created is deleted. */
function planCreated(toUndo: RecordToUndo, { takesPrecedence, isSightLimited, invisible }: UndoRules): RecordUndo {
	const { current, fieldHistories, key } = toUndo.history;
	if (!current) {
		const recreation = livingRecreation(toUndo.history);
		if (!recreation || recreation.isToUndo) return notWritten(toUndo, explain(invisible.has(key) ? 'invisible' : 'alreadyGone'));
		return notWritten(toUndo, explain('recreationKept', recreation.id), recreation.id);
	}
	const isChangedSince = [...fieldHistories.values()].some((field) => lastByOthers(field) !== undefined);
	if (isChangedSince && !takesPrecedence) return notWritten(toUndo, explain('changedSince'));
	if (isSightLimited && !takesPrecedence) return notWritten(toUndo, explain('maybeLinked'));
	return { ...toUndo, result: 'undone', changes: [], action: 'delete', record: current };
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
	const { changes } = fields.compare.difference({}, recordBeforeChanges(toUndo, rules));
	return { ...toUndo, result: 'undone', changes: changes.filter(({ field }) => fields.canWrite('create', field)), action: 'create' };
}

/** A record that an undo has created again gets what that undo could not restore. Values that have changed since are kept. */
function planRecreated(toUndo: RecordToUndo, { id: newId, record, changed }: LivingRecreation, rules: UndoRules): RecordUndo {
	const { history, fields } = toUndo;
	// It was created with the previous values of these fields, and with others' values of the fields that others had changed last.
	const ownNames = writableNames(toUndo).filter((name) => !history.fieldHistories.get(name)!.othersSince);
	const differing = allKept(restoringChanges(toUndo, rules, ownNames, record).changes);
	// Of the other fields, it gets what it lacks, such as a link to a record that did not exist then.
	const target = recordBeforeChanges(toUndo, rules);
	for (const [name, value] of fieldEntries(target)) setField(target, name, withSubstitutes(rules.newIds, fields.linkField(name), value));
	const decidedNames = new Set([...ownNames, ...changed]);
	const isLacking = ({ field }: FieldChange) =>
		!decidedNames.has(eventName(field)) && fields.canWrite('create', field) && fields.canWrite('update', field);
	const lacking = fields.compare.difference(record, target).changes.filter(isLacking);
	const undo = { ...toUndo, newId, changes: [...differing, ...lacking] };
	const planned: RecordUndo = lacking.length > 0
		? { ...undo, result: 'undone', action: 'update', record }
		: { ...undo, ...explain('createdAgain', newId) };
	return differing.length > 0 ? withExplanations(planned, explain('hasOtherValues')) : planned;
}

/**
 * The changed fields of a record get their previous values. Somebody else may have deleted the record: if an undo has
 * created it again, its fields are restored there.
 */
function planChanged(toUndo: RecordToUndo, rules: UndoRules): RecordUndo {
	const { current, fieldHistories, key } = toUndo.history;
	const recreation = current ? undefined : livingRecreation(toUndo.history);
	const record = current ?? recreation?.record;
	if (!record) return notWritten(toUndo, explain(rules.invisible.has(key) ? 'invisible' : 'deletedSince'));
	const names = writableNames(toUndo);
	if (names.length === 0 && fieldHistories.size > 0) {
		return notWritten(toUndo, explain('setByService', [...fieldHistories.keys()].join(', ')), recreation?.id);
	}
	const { changes, reasons } = restoringChanges(toUndo, rules, names, record);
	if (changes.length === 0) return notWritten(toUndo, explain('hasValues'), recreation?.id);
	const isWritten = changes.some(({ kept }) => !kept);
	const undo: RecordUndo = { ...toUndo, result: 'undone', changes, newId: recreation?.id, ...(isWritten && { action: 'update', record }) };
	return withExplanations(undo, ...reasons);
}

const writableNames = ({ history, fields }: RecordToUndo): string[] =>
	[...history.fieldHistories.keys()].filter((name) => fields.canWrite('update', name));
