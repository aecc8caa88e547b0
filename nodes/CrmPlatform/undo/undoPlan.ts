import type { Change } from '../changes/merge';
import { eventName, fieldEntries, setField } from '../log/eventFields';
import { lastByOthers } from './fieldHistory';
import { explain } from './reasons';
import { type LivingRecreation, livingRecreation } from './recordHistories';
import { allKept, leftAsItIs, type RecordToUndo, type RecordUndo, withCopies, withReason } from './recordUndo';
import { withSubstitutes } from './recreations';
import { recordBeforeChanges, type RestorationRules, restoringChanges } from './restoredFields';
import type { UndoChoices } from './undoForm';

interface UndoRules extends RestorationRules, Pick<UndoChoices, 'isSightLimited'> {
	/** Whether the log reports the record as deleted, but it may only be invisible to the credential. */
	isInvisible: boolean;
}

/** Decides what happens to a record: the first case that applies. */
export function planRecord(toUndo: RecordToUndo, rules: UndoRules): RecordUndo {
	const { problem, deletion, current, isCreated } = toUndo.history;
	if (problem) return leftAsItIs(toUndo, problem);
	if (deletion && current) return leftAsItIs(toUndo, explain('existsAgain'));
	if (isCreated) return planCreated(toUndo, rules);
	return deletion ? planDeleted(toUndo, rules) : planChanged(toUndo, rules);
}

/** A record that the changes to undo created is deleted. */
function planCreated(toUndo: RecordToUndo, { takesPrecedence, isSightLimited, isInvisible }: UndoRules): RecordUndo {
	const { current, fieldHistories } = toUndo.history;
	if (!current) {
		const recreation = livingRecreation(toUndo.history);
		if (!recreation || recreation.isToUndo) return leftAsItIs(toUndo, explain(isInvisible ? 'invisible' : 'alreadyGone'));
		return leftAsItIs(toUndo, explain('recreationKept', recreation.id), recreation.id);
	}
	if (!takesPrecedence) {
		const isChangedSince = [...fieldHistories.values()].some((field) => lastByOthers(field) !== undefined);
		if (isChangedSince) return leftAsItIs(toUndo, explain('changedSince'));
		if (isSightLimited) return leftAsItIs(toUndo, explain('maybeLinked'));
	}
	return { ...toUndo, result: 'undone', changes: [], action: 'delete', record: current };
}

/** A record that the changes to undo deleted is created again, with the values from before them. */
function planDeleted(toUndo: RecordToUndo, rules: UndoRules): RecordUndo {
	const { history, fields } = toUndo;
	const recreation = livingRecreation(history);
	const [gone] = history.recreations;
	if (recreation) return withCopies(planRecreated(toUndo, recreation, rules));
	if (gone) return leftAsItIs(toUndo, explain('goneAgain', gone.id));
	if (rules.isInvisible) return leftAsItIs(toUndo, explain('maybeNotDeleted'));
	if (!fields.canMarkRecreations) return leftAsItIs(toUndo, explain('unmarkable'));
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
	const isLacking = ({ field }: Change) =>
		!decidedNames.has(eventName(field)) && fields.canWrite('create', field) && fields.canWrite('update', field);
	const lacking = fields.compare.difference(record, target).changes.filter(isLacking);
	const undo = { ...toUndo, newId, changes: [...differing, ...lacking] };
	const planned: RecordUndo = lacking.length > 0
		? { ...undo, result: 'undone', action: 'update', record }
		: { ...undo, ...explain('createdAgain', newId) };
	return differing.length > 0 ? withReason(planned, explain('hasOtherValues')) : planned;
}

/**
 * The changed fields of a record get their previous values. Somebody else may have deleted the record: if an undo has
 * created it again, its fields are restored there.
 */
function planChanged(toUndo: RecordToUndo, rules: UndoRules): RecordUndo {
	const { current, fieldHistories } = toUndo.history;
	const recreation = current ? undefined : livingRecreation(toUndo.history);
	const record = current ?? recreation?.record;
	if (!record) return leftAsItIs(toUndo, explain(rules.isInvisible ? 'invisible' : 'deletedSince'));
	const names = writableNames(toUndo);
	if (names.length === 0 && fieldHistories.size > 0) {
		return leftAsItIs(toUndo, explain('setByService', [...fieldHistories.keys()].join(', ')), recreation?.id);
	}
	const { changes, reasons } = restoringChanges(toUndo, rules, names, record);
	if (changes.length === 0) return leftAsItIs(toUndo, explain('hasValues'), recreation?.id);
	const isWritten = changes.some(({ kept }) => !kept);
	const undo: RecordUndo = {
		...toUndo, result: 'undone', changes, ...(isWritten && { action: 'update', record }), ...(recreation && { newId: recreation.id }),
	};
	return reasons.reduce((reported, reason) => withReason(reported, reason), undo);
}

const writableNames = ({ history, fields }: RecordToUndo): string[] =>
	[...history.fieldHistories.keys()].filter((name) => fields.canWrite('update', name));
