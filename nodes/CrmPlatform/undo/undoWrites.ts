import type { IDataObject } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';

import { refusedRecord } from '../api/http/statuses';
import { isAnsweredWith, isWebPage } from '../api/record';
import { passedOn } from '../base/errorOf';
import { getOrCreate } from '../base/maps';
import { type ChangeWrite, sendChanges } from '../changes/apply';
import { setField } from '../log/eventFields';
import type { Execution, MayContinue } from '../model';
import { leftAsItIs, type RecordUndo, withCopies } from './history';
import type { LiveLinks } from './links';
import type { LoggedChanges } from './loggedChanges';
import { explain } from './reasons';
import type { FieldsByCollection } from './undoFields';
import type { UndoChoices } from './undoForm';
import { deadlockedSteps, deletableSteps, missingWrite, openSteps, readySteps } from './undoOrder';
import { afterAnswer, stepFor, type UndoStep } from './undoStep';

/** What planning an undo and carrying it out need. */
export interface Undoing {
	execution: Execution;
	choices: UndoChoices;
	logged: LoggedChanges;
	fields: FieldsByCollection;
	links: LiveLinks;
}

/**
 * Carries out a plan: writes what waits for nothing, round after round, and when the rest wait for each other, some of it
 * without what it waits for. The log shows what others do meanwhile.
 *
 * @returns the outcome of each planned undo
 * @throws NodeApiError if the service stops answering; the next undo continues
 */
export async function writeUndos(undoing: Undoing, planned: RecordUndo[]): Promise<RecordUndo[]> {
	const steps = planned.map(stepFor);
	try {
		for (let isMoving = true; isMoving; ) {
			const areUpdated = await write(undoing, readySteps(steps, 'update', undoing.links));
			const areDeleted = await deleteUnlinked(undoing, steps);
			const areCreated = await write(undoing, readySteps(steps, 'create', undoing.links));
			isMoving = areUpdated || areDeleted || areCreated || (await writeDeadlocked(undoing, steps));
		}
		await writeMissing(undoing, steps);
		await undoing.logged.catchUp();
	} catch (error) {
		undoing.execution.api.notices.add(howFar(steps));
		throw passedOn(error);
	}
	return steps.map(finalOutcome);
}

/**
 * Deletes the created records that no remaining record links to, dependents first, as many as one request takes.
 *
 * @returns whether any of them is done
 */
async function deleteUnlinked(undoing: Undoing, steps: UndoStep[]): Promise<boolean> {
	const { choices: { takesPrecedence }, logged } = undoing;
	const deletions = openSteps(steps, 'delete');
	let wave: UndoStep[] = [];
	while (deletions.some(({ state }) => state !== 'done')) {
		if ((await logged.catchUp()) || wave.length === 0) {
			if (!takesPrecedence) keepChanged(openSteps(deletions, 'delete'));
			wave = deletableSteps(steps, logged.records.links, takesPrecedence);
		}
		const request = firstRequest(wave, undoing.fields);
		if (request.length === 0) break;
		await write(undoing, request);
		// A record that the CRM does not delete may link to the others.
		const isRefused = request.some(({ outcome }) => !outcome.action);
		wave = isRefused ? [] : openSteps(wave, 'delete');
	}
	return deletions.some(({ state }) => state === 'done');
}

/** Keeps the records that others have changed meanwhile. */
function keepChanged(deletions: UndoStep[]): void {
	for (const step of deletions) {
		const { history } = step.planned;
		if (history.changedByOthers.size > 0) Object.assign(step, { state: 'done', outcome: leftAsItIs(history, explain('changedSince')) });
	}
}

/** As many of these deletions, of one record type, as a request takes. */
function firstRequest(wave: UndoStep[], fields: FieldsByCollection): UndoStep[] {
	const collection = wave[0]?.planned.history.collection;
	const batch = fields.get(collection ?? '')?.description?.delete?.batch;
	return wave.filter(({ planned }) => planned.history.collection === collection).slice(0, batch?.takesVersion ? batch.maximum : 1);
}

/** Writes steps that wait for each other, without what they wait for. @returns whether any of them made progress */
async function writeDeadlocked(undoing: Undoing, steps: UndoStep[]): Promise<boolean> {
	const deadlocked = deadlockedSteps(steps, undoing.links);
	for (const { step, isIncomplete } of deadlocked) Object.assign(step, { state: 'last', isIncomplete: step.isIncomplete || isIncomplete });
	return await write(undoing, deadlocked.map(({ step }) => step));
}

/** Writes what the steps lack that were written without something. */
async function writeMissing(undoing: Undoing, steps: UndoStep[]): Promise<void> {
	for (const step of steps.filter(({ isIncomplete }) => isIncomplete)) {
		const missing = missingWrite(step, undoing.links);
		if (!missing) continue;
		const completion = stepFor(missing);
		await write(undoing, [completion]);
		const { newId } = step.outcome;
		if (completion.written) step.outcome = { ...undoing.links.resolve(step.planned), ...(newId !== undefined && { newId }) };
	}
}

/** Writes steps, as far as there is something left to write. @returns whether any of them made progress */
async function write(undoing: Undoing, steps: UndoStep[]): Promise<boolean> {
	const groups = new Map<string, UndoStep[]>();
	for (const step of steps) {
		step.next = undoing.links.resolve(step.next);
		const { action, history: { collection } } = step.next;
		if (action) getOrCreate(groups, `${action} ${collection}`, () => []).push(step);
		else Object.assign(step, { state: 'done', outcome: step.next });
	}
	for (const group of groups.values()) await send(undoing, group);
	return steps.some(({ state }) => state !== 'taken');
}

/**
 * Sends writes of one kind as every operation does: in batches, under idempotency keys and versions. A creation is sent
 * alone, under a key that names the deletion, so that the log shows which record was created for which.
 *
 * @throws Error that does not concern just one record
 */
async function send({ execution, fields: fieldsByCollection, links }: Undoing, group: UndoStep[]): Promise<void> {
	const { action, history: { collection } } = group[0]!.next;
	const fields = fieldsByCollection.get(collection)!;
	const settle = (step: UndoStep, answer: IDataObject | Error) => {
		Object.assign(step, afterAnswer(step, answer, fields));
		if (step.outcome.newId !== undefined) links.replaceId(step.planned.history, step.outcome.newId);
	};
	const description = fields.description?.[action!];
	if (!description || description.refusal !== undefined) {
		const refusal = new Error(description?.refusal ?? `The CRM’s API cannot ${action} records of ${collection}. Undo this change by hand.`);
		for (const step of group) settle(step, refusal);
		return;
	}
	const signal = execution.n8n.getExecutionCancelSignal();
	const mayContinue: MayContinue = (results) => !signal?.aborted && !results.some(isFatal);
	const writes = group.map(({ next }) => writeOf(next));
	// A repeated undo makes another plan, and must not repeat the keys of an earlier one.
	const run = randomUUID();
	const outcomes = await sendChanges(execution, description, { collection, writes, run }, mayContinue);
	for (const [i, outcome] of outcomes.entries()) {
		if (isFatal(outcome)) throw outcome;
		if (outcome) settle(group[i]!, outcome);
	}
	if (signal?.aborted) throw new Error('The execution was canceled');
}

function writeOf({ action, changes, record, history: { deletion } }: RecordUndo): ChangeWrite {
	if (action === 'delete') return { record: record! };
	const patch: IDataObject = {};
	for (const { field, to, kept } of changes) if (!kept) setField(patch, field, to ?? null);
	return action === 'create' ? { patch, deletion: deletion!.event } : { patch, record: record! };
}

/** Whether an outcome is an error that does not concern just one record, so that the next write would fail, too. */
const isFatal = (outcome: unknown): outcome is Error =>
	outcome instanceof Error && (!isAnsweredWith(outcome, ...refusedRecord) || isWebPage(outcome));

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
