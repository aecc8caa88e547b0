import { asLinked, copiesOf } from './duplicateRecreations';
import { createdInPlaceOf, livingRecord } from './currentRecords';
import { deletedLinks, type RecordHistory } from './recordHistory';
import { compareStates, recordStateOf } from './recordState';
import { existsAgain, restoreFields, restoreRecord, type UndoRules } from './restore';
import type { UndoChoices } from './selection';
import type { Undoing } from './recordUndo';

/** Decides what becomes of each record. */
export function planUndo(histories: RecordHistory[], rules: Omit<UndoRules, 'renamed' | 'linksToDeleted'>): Undoing[] {
	const newIds = new Map(histories.flatMap((history): Array<[string, string]> => {
		const again = createdInPlaceOf(history, rules.current);
		return again ? [[history.id, again.id]] : [];
	}));
	const renamed = (value: unknown): unknown =>
		newIds.size === 0 ? (value ?? null) : JSON.parse(JSON.stringify(value ?? null), (_, member: unknown) => (typeof member === 'string' ? (newIds.get(member) ?? member) : member));
	const linksToDeleted = deletedLinks(histories);
	const copies = histories.flatMap((history) => {
		const { current, takesPrecedence } = rules;
		const living = history.anew.filter(({ id }) => livingRecord(current, history.collection, id));
		return copiesOf(history, living, takesPrecedence || current.isSightLimited, ({ id }) => livingRecord(current, history.collection, id)!);
	});
	return withLinkedKept([...histories.map((history) => unlessAhead(decide(history, { ...rules, renamed, linksToDeleted }), rules)), ...copies], rules.linkedAfter);
}

/** Keeps created records that are linked when the undo is done; what they link to in turn is kept with them. */
export function withLinkedKept(planned: Undoing[], linkedAfter: (planned: Undoing[]) => ReadonlySet<string>): Undoing[] {
	const linked = linkedAfter(planned);
	const isKept = ({ action, history }: Undoing) => action === 'delete' && linked.has(history.id);
	if (!planned.some(isKept)) return planned;
	return withLinkedKept(planned.map((undo) => (isKept(undo) ? asLinked(undo) : undo)), linkedAfter);
}

function decide(history: RecordHistory, rules: UndoRules): Undoing {
	const { current } = rules;
	const { collection, id, isCreated, deletion, problem } = history;
	const outcome = (result: Undoing['result'], reason?: string): Undoing => ({
		history,
		result,
		changes: [],
		...(reason !== undefined && { reason }),
	});
	if (problem !== undefined) return outcome('cannot_be_undone', problem);
	const found = current.record(collection, id);
	const record = livingRecord(current, collection, id);
	const state = record && compareStates(recordStateOf(record), history.state);
	if (state === 'older') return outcome('conflict', outdated);
	const again = createdInPlaceOf(history, current);
	const isOutOfSight = !found && current.showsDeleted(collection);

	if (isCreated) {
		if (!record && again && !again.isOwn) return { ...outcome('conflict', stays(again.id)), newId: again.id };
		if (!record && deletion && history.isTouched && !rules.takesPrecedence) return outcome('conflict', deletedWithTheirs);
		if (!record) return isOutOfSight ? outcome('conflict', outOfSight) : outcome('already_so', gone);
		if (deletion) return outcome('conflict', existsAgain);
		if ((history.isTouched || (state !== 'same' && state !== 'unknown')) && !rules.takesPrecedence) return outcome('conflict', changedSince);
		if (state === 'unknown' && !rules.takesPrecedence) return outcome('conflict', maybeChanged);
		if (current.isSightLimited && !rules.takesPrecedence) return outcome('conflict', maybeLinked);
		return { ...outcome('undone'), action: 'delete', current: record };
	}
	if (deletion) return restoreRecord(outcome, history, rules, found, record);
	// What somebody else has deleted, and an undo has created again.
	if (!record && again) return { ...restoreFields(outcome, history, rules, again.record), newId: again.id };
	if (!record) return outcome('conflict', isOutOfSight ? outOfSight : deletedSince);
	return restoreFields(outcome, history, rules, record);
}

/** A created record that somebody has changed while others were deleted. */
export const asChanged = ({ history }: Undoing): Undoing => ({ history, result: 'conflict', changes: [], reason: changedSince });

/** What others have made of a record may not be in the log yet, not even where they have come back to the same value. */
function unlessAhead(undo: Undoing, { takesPrecedence }: Pick<UndoRules, 'takesPrecedence'>): Undoing {
	const { action, current, ...rest } = undo;
	const { newest } = rest.history.anew.find(({ id }) => id === rest.newId) ?? rest.history;
	const isRestored = action === 'update' || (rest.result === 'already_so' && action === undefined);
	const state = current && isRestored && !takesPrecedence ? compareStates(recordStateOf(current), newest) : 'same';
	if (state === 'same' || state === 'unknown') return undo;
	return { ...rest, result: 'conflict', reason: state === 'older' ? outdated : logBehind, changes: rest.changes.map((change) => ({ ...change, kept: true })) };
}

/**
 * Tells when a plan changes more records than *Maximum Records* allows.
 *
 * @throws Error in the user's words, except in a preview
 */
export function refuseTooMany(planned: Undoing[], { maximum }: UndoChoices, isPreview: boolean, notices: Set<string>): void {
	const count = planned.filter(({ action }) => action).length;
	if (count <= maximum) return;
	const message = `${count} records would change, and Maximum Records allows ${maximum}. To undo them, set Maximum Records to ${count}.`;
	if (!isPreview) throw new Error(`${message} Nothing was written.`);
	notices.add(message);
}

const gone = 'The record is already gone.';
const stays = (id: string) => `The workflow created this record. It was deleted, and created again as ${id}, which was not deleted.`;
const deletedWithTheirs = 'The workflow created this record, someone else changed it, and the workflow deleted it. It was not created again.';
const changedSince = 'The workflow created this record, and someone else has changed it since. It was not deleted.';
const maybeLinked = 'The workflow created this record, and records that you cannot see may link to it. It was not deleted. To delete it, undo with an API key, or turn on Undo Takes Precedence.';
const deletedSince = 'Someone else has deleted the record since.';
const outdated = 'The service returned an earlier version of the record than the one in its log. Run the undo again.';
const logBehind = 'The service’s log is behind: the record was changed after the last change in the log. Run the undo again.';
const outOfSight = 'The service does not return this record: it is not visible to the credential, or erased.';
const maybeChanged = 'The workflow created this record, and the service does not show whether someone else has changed it since. It was not deleted.';
