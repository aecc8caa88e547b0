import type { IDataObject } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';

import { isRefused } from '../api/record';
import { passedOn } from '../base/errorOf';
import { hasSameValue } from '../base/json';
import { getOrCreate } from '../base/maps';
import { type ChangeWrite, sendChanges } from '../changes/apply';
import type { Change } from '../changes/merge';
import { fieldValue, setField } from '../log/eventFields';
import type { Execution, MayContinue } from '../model';
import { leftAsItIs, type RecordUndo, withCopies } from './history';
import { type LiveLinks, recordKey } from './links';
import type { LoggedChanges } from './loggedChanges';
import { explain } from './reasons';
import type { FieldsByCollection } from './undoFields';
import type { UndoChoices } from './undoForm';
import { finish, noteAnswer, stepFor, type UndoStep } from './undoStep';

// The writes of an undo depend on each other: a value that must be unique becomes free when the record that has it is undone,
// a created record can be deleted when nothing links to it any more, and a record can be linked to when it was created again.

/** What planning an undo and carrying it out need. */
export interface Undoing {
	execution: Execution;
	choices: UndoChoices;
	logged: LoggedChanges;
	fields: FieldsByCollection;
	links: LiveLinks;
}

type Action = NonNullable<RecordUndo['action']>;

/**
 * Carries out a plan: writes what waits for nothing, round after round, and when the rest wait for each other, some of it
 * without what it waits for. The log shows what others do meanwhile.
 *
 * @returns the outcome of each planned undo
 * @throws NodeApiError if the service stops answering; the next undo continues
 */
export async function writeUndos(undoing: Undoing, planned: RecordUndo[]): Promise<RecordUndo[]> {
	const { execution: { api }, logged, links } = undoing;
	const steps = planned.map(stepFor);
	try {
		for (let isMoving = true; isMoving; ) {
			const areUpdated = await write(undoing, readySteps(steps, 'update', links));
			const areDeleted = await deleteUnlinked(undoing, steps);
			const areCreated = await write(undoing, readySteps(steps, 'create', links));
			isMoving = areUpdated || areDeleted || areCreated || (await writeDeadlocked(undoing, steps));
		}
		for (const step of steps.filter(({ isIncomplete }) => isIncomplete)) await writeMissing(undoing, step);
		await logged.catchUp();
	} catch (error) {
		api.notices.add(howFar(steps));
		throw passedOn(error);
	}
	return steps.map(finalOutcome);
}

/** The steps of this action that are still to be written. */
const openSteps = (steps: UndoStep[], action: Action): UndoStep[] =>
	steps.filter(({ state, planned }) => state !== 'done' && planned.action === action);

const keysOf = (steps: UndoStep[]): ReadonlySet<string> => new Set(steps.map(({ planned }) => recordKey(planned.history)));

/** The open steps that link to no record that is yet to be created. */
function readySteps(steps: UndoStep[], action: Action, links: LiveLinks): UndoStep[] {
	const creations = keysOf(openSteps(steps, 'create'));
	return openSteps(steps, action).filter(({ next }) => !links.waitsFor(next, creations));
}

/**
 * Deletes the created records that no remaining record links to, dependents first. Before each request, the log shows
 * whether others have changed such a record meanwhile, or linked to it.
 *
 * @returns whether any of them is done
 */
async function deleteUnlinked(undoing: Undoing, steps: UndoStep[]): Promise<boolean> {
	const { choices: { takesPrecedence }, logged, fields } = undoing;
	const { links: createdLinks } = logged.records;
	let areDone = false;
	while (openSteps(steps, 'delete').length > 0) {
		await logged.catchUp();
		for (const step of takesPrecedence ? [] : openSteps(steps, 'delete')) {
			const { history } = step.planned;
			if (history.changedByOthers.size > 0) finish(step, leftAsItIs(history, explain('changedSince')));
		}
		const linkedIds = createdLinks.linkedAfterUndo(steps.map(({ outcome }) => outcome), { isPlan: false, takesPrecedence });
		const unlinked = openSteps(steps, 'delete').filter(({ planned }) => !linkedIds.has(planned.history.id));
		const deletable = createdLinks.deletableFirst(unlinked);
		const collection = deletable[0]?.planned.history.collection;
		if (collection === undefined) break;
		const batch = fields.get(collection)!.description?.delete?.batch;
		const ofOneType = deletable.filter(({ planned }) => planned.history.collection === collection);
		await write(undoing, ofOneType.slice(0, batch?.takesVersion ? batch.maximum : 1));
		areDone = true;
	}
	return areDone;
}

/** Writes some of the steps that all wait for each other, without what they wait for. @returns whether any of them made progress */
async function writeDeadlocked(undoing: Undoing, steps: UndoStep[]): Promise<boolean> {
	const { links } = undoing;
	const creations = openSteps(steps, 'create');
	const untried = creations.filter(({ state }) => state === 'waiting');
	const untriedKeys = keysOf(untried);
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
	for (const step of first) Object.assign(step, { state: 'last', isIncomplete: true });
	return await write(undoing, first);
}

/** Writes what a step lacks: links to records that were created later, and values that have become free. */
async function writeMissing(undoing: Undoing, step: UndoStep): Promise<void> {
	const { action, record, newId } = step.outcome;
	const planned = undoing.links.resolve(step.planned);
	// What the CRM has stored otherwise was written, too.
	const written = action ? step.next.changes : [];
	const writtenValue = (name: string) => written.find(({ field, kept }) => field === name && !kept)?.to;
	const missing = planned.changes.filter(({ field, to, kept }) => !kept && !hasSameValue(to, writtenValue(field)));
	if (!record || missing.length === 0) return;
	const rest = missing.map((change): Change => ({ ...change, from: fieldValue(record, change.field) }));
	const completion = stepFor({ ...planned, action: 'update', record, changes: rest });
	await write(undoing, [completion]);
	if (completion.outcome.action) step.outcome = { ...planned, ...(newId !== undefined && { newId }) };
}

/** Writes steps, as far as there is something left to write. @returns whether any of them made progress */
async function write(undoing: Undoing, steps: UndoStep[]): Promise<boolean> {
	const groups = new Map<string, UndoStep[]>();
	for (const step of steps) {
		step.next = undoing.links.resolve(step.next);
		const { action, history: { collection } } = step.next;
		if (action) getOrCreate(groups, `${action} ${collection}`, () => []).push(step);
		else finish(step, step.next);
	}
	for (const group of groups.values()) await send(undoing, group);
	return steps.some(({ state }) => state !== 'taken');
}

/**
 * Sends writes of one kind as every operation does: in batches, under idempotency keys and versions. A creation is sent
 * alone, under a key that names the deletion, so that the log shows which record was created for which.
 *
 * @throws Error that concerns not only this record or record type
 */
async function send({ execution, fields: fieldsByCollection, links }: Undoing, group: UndoStep[]): Promise<void> {
	const { action, history: { collection } } = group[0]!.next;
	const fields = fieldsByCollection.get(collection)!;
	const description = fields.description?.[action!];
	if (!description || description.refusal !== undefined) {
		const refusal = new Error(description?.refusal ?? `The CRM’s API cannot ${action} records of ${collection}. Undo this change by hand.`);
		for (const step of group) noteAnswer(step, refusal, fields);
		return;
	}
	const signal = execution.n8n.getExecutionCancelSignal();
	const mayContinue: MayContinue = (results) => !signal?.aborted && !results.some(isFatal);
	const writes = group.map(({ next }) => writeOf(next));
	// A repeated undo makes another plan, and must not repeat the keys of an earlier one.
	const run = randomUUID();
	const answers = await sendChanges(execution, description, { collection, writes, run }, mayContinue);
	for (const [i, step] of group.entries()) {
		const answer = answers[i];
		if (isFatal(answer)) throw answer;
		if (answer) noteAnswer(step, answer, fields);
		if (step.outcome.newId !== undefined) links.replaceId(step.planned.history, step.outcome.newId);
	}
	if (signal?.aborted) throw new Error('The execution was canceled');
}

function writeOf({ action, changes, record, history: { deletion } }: RecordUndo): ChangeWrite {
	if (action === 'delete') return { record: record! };
	const patch: IDataObject = {};
	for (const { field, to, kept } of changes) if (!kept) setField(patch, field, to ?? null);
	return action === 'create' ? { patch, deletion: deletion!.event } : { patch, record: record! };
}

/** Whether an outcome is an error because of which other record types fail, too. */
const isFatal = (outcome: unknown): outcome is Error => outcome instanceof Error && !isRefused(outcome);

function finalOutcome({ state, outcome }: UndoStep): RecordUndo {
	const { action, history, newId } = outcome;
	if (state !== 'done' && action === 'delete') return leftAsItIs(history, explain('linkedSince'));
	// Another undo may have created the same record at the same time.
	return action === 'create' && newId !== undefined ? withCopies(outcome) : outcome;
}

function howFar(steps: UndoStep[]): string {
	const writtenCount = steps.filter(({ state, outcome }) => state === 'done' && outcome.action).length;
	const plannedCount = steps.filter(({ planned }) => planned.action).length;
	return `The undo stopped. About ${writtenCount} of ${plannedCount} records were written. Run it again: it continues with the rest.`;
}
