import { hasSameValue } from '../base/json';
import type { Change } from '../changes/merge';
import { fieldValue } from '../log/eventFields';
import type { RecordUndo } from './history';
import { type LinksToCreated, type LiveLinks, recordKey } from './links';
import type { UndoStep } from './undoStep';

// What an undo writes next. Its writes depend on each other: a value that must be unique becomes free when the record that has
// it is undone, a created record can be deleted when nothing links to it any more, and a record can be linked to when it was
// created again.

type Action = NonNullable<RecordUndo['action']>;

/** The steps of this action that are still to be written. */
export const openSteps = (steps: UndoStep[], action: Action): UndoStep[] =>
	steps.filter(({ state, planned }) => state !== 'done' && planned.action === action);

const keysOf = (steps: UndoStep[]): ReadonlySet<string> => new Set(steps.map(({ planned }) => recordKey(planned.history)));

/** The open steps that link to no record that is yet to be created. */
export function readySteps(steps: UndoStep[], action: Action, links: LiveLinks): UndoStep[] {
	const creations = keysOf(openSteps(steps, 'create'));
	return openSteps(steps, action).filter(({ next }) => !links.waitsFor(next, creations));
}

/** The created records that no remaining record links to, dependents first. */
export function deletableSteps(steps: UndoStep[], links: LinksToCreated, takesPrecedence: boolean): UndoStep[] {
	const linkedIds = links.linkedAfterUndo(steps.map(({ outcome }) => outcome), { isPlan: false, takesPrecedence });
	const unlinked = openSteps(steps, 'delete').filter(({ planned }) => !linkedIds.has(planned.history.id));
	const first = new Set(links.deletableFirst(unlinked.map(({ planned }) => planned)));
	return unlinked.filter(({ planned }) => first.has(planned));
}

/**
 * When all open steps wait for each other: the first kind of them that there is, to be written without what they wait for.
 *
 * @returns also whether a step then lacks something that can be written at the end
 */
export function deadlockedSteps(steps: UndoStep[], links: LiveLinks): Array<{ step: UndoStep; isIncomplete: boolean }> {
	const creations = openSteps(steps, 'create');
	const untried = creations.filter(({ state }) => state === 'waiting');
	const [creationKeys, untriedKeys] = [keysOf(creations), keysOf(untried)];
	const deletedIds = new Set(openSteps(steps, 'delete').map(({ planned }) => planned.history.id));
	const first = [
		// Creations that link only to records that the CRM refuses to create.
		untried.filter(({ next }) => !links.waitsFor(next, untriedKeys)),
		// One of those that link to each other in a circle.
		untried.slice(0, 1),
		// Creations with a value of a record to delete, which may be linked from what waits for them.
		creations.filter(({ holder }) => holder !== undefined && deletedIds.has(holder)),
		openSteps(steps, 'update'),
	].find(({ length }) => length > 0) ?? [];
	// The record that an update links to may only wait for the value that this update gives back.
	return first.map((step) => ({ step, isIncomplete: step.planned.action === 'create' || links.waitsFor(step.next, creationKeys) }));
}

/**
 * What a written step lacks: links to records that were created later, and values that have become free.
 *
 * @returns undefined if it lacks nothing
 */
export function missingWrite({ planned, outcome, written: record = planned.record }: UndoStep, links: LiveLinks): RecordUndo | undefined {
	const resolved = links.resolve(planned);
	const writtenValue = (name: string) => outcome.changes.find(({ field, kept }) => field === name && !kept)?.to;
	const missing = resolved.changes.filter(({ field, to, kept }) => !kept && !hasSameValue(to, writtenValue(field)));
	if (!record || missing.length === 0) return undefined;
	const changes = missing.map((change): Change => ({ ...change, from: fieldValue(record, change.field) }));
	return { ...resolved, action: 'update', record, changes };
}
