import type { IDataObject } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';

import { isRefused, NotSent } from '../api/refusals';
import { chunks } from '../base/lists';
import { getOrCreate } from '../base/maps';
import { type ChangeWrite, sendChanges } from '../changes/sendChanges';
import { setField } from '../log/eventFields';
import type { NodeRun, MayContinue } from '../model';
import { type LiveLinks, waitsFor, withLiveLinks } from './liveLinks';
import type { LoggedChanges } from './loggedChanges';
import { explain } from './reasons';
import { notWritten, type RecordUndo, withCopies } from './recordUndo';
import type { UndoChoices } from './undoForm';
import { changesToSend, ended, firstStep, isPending, stepAfter, type UndoStep } from './undoStep';

// The writes of an undo depend on each other: a value that must be unique becomes free when the record that has it is undone,
// a created record can be deleted when nothing links to it any more, and a record can be linked to when it was created again.

/** How far an undo is. */
interface Course {
	run: NodeRun;
	choices: UndoChoices;
	logged: LoggedChanges;
	links: LiveLinks;
	/** In the order of the plan. */
	steps: UndoStep[];
}

/**
 * Carries out a plan: writes what waits for nothing, round after round, and when the rest wait for each other, some of it
 * without what it waits for. The log shows what others do meanwhile.
 *
 * @returns the result of each planned undo
 * @throws NodeApiError if the service stops answering; the next undo continues
 */
export async function writeUndos(undoing: Omit<Course, 'steps'>, planned: RecordUndo[]): Promise<RecordUndo[]> {
	const steps = planned.map(firstStep);
	const course: Course = { ...undoing, steps };
	try {
		for (let isMoving = true; isMoving; ) {
			const areUpdated = await write(course, readySteps(course, 'update'));
			const areDeleted = await deleteUnlinked(course);
			const areCreated = await write(course, readySteps(course, 'create'));
			isMoving = areUpdated || areDeleted || areCreated || (await writeDeadlocked(course));
		}
		for (const step of steps) while (step.state === 'incomplete') await write(course, [step]);
		await undoing.logged.catchUp();
	} catch (error) {
		undoing.run.api.notices.add(howFar(steps));
		throw error as Error;
	}
	return steps.map(finalResult);
}

/** The steps with an action that are still to be written, but for what completes them at the end. */
const pendingSteps = ({ steps }: Course, action: RecordUndo['action']): UndoStep[] =>
	steps.filter((step) => isPending(step) && step.planned.action === action);

const keysOf = (steps: UndoStep[]): ReadonlySet<string> => new Set(steps.map(({ planned }) => planned.history.key));

/** The pending steps that link to no record that is yet to be created, or do not wait for it. */
function readySteps(course: Course, action: 'update' | 'create'): UndoStep[] {
	const creations = keysOf(pendingSteps(course, 'create'));
	return pendingSteps(course, action).filter(({ state, toWrite }) => state === 'forced' || !waitsFor(course.links, toWrite, creations));
}

/**
 * Deletes the created records that no remaining record links to, dependents first. Before each request, the log shows
 * whether others have linked to one meanwhile.
 *
 * @returns whether any of them is done
 */
async function deleteUnlinked(course: Course): Promise<boolean> {
	for (let areDone = false; ; areDone = true) {
		const pending = pendingSteps(course, 'delete');
		if (pending.length === 0) return areDone;
		await course.logged.catchUp();
		const requests = nextDeletions(course, pending);
		if (requests.length === 0) return areDone;
		for (const [i, steps] of requests.entries()) {
			if (i > 0 && (await course.logged.catchUp())) break;
			await write(course, steps);
		}
	}
}

/** The deletions of records to which nothing links, divided into requests; only the first one if all are linked in a circle. */
function nextDeletions({ choices, logged: { linksToCreated }, steps }: Course, pending: UndoStep[]): UndoStep[][] {
	const linkedKeys = linksToCreated.linkedKeys(steps.map(({ result }) => result), 'now', choices);
	const deletable = pending.filter(({ planned }) => !linkedKeys.has(planned.history.key));
	const linkedByOthers = new Set(deletable.flatMap(({ planned }) => linksToCreated.linkedFrom(planned.history)));
	const unlinked = deletable.filter(({ planned }) => !linkedByOthers.has(planned.history.key));
	const byType = new Map<string, UndoStep[]>();
	for (const step of unlinked.length > 0 ? unlinked : deletable) getOrCreate(byType, step.planned.history.collection, () => []).push(step);
	const requests = [...byType.values()].flatMap((ofType) => {
		const batch = ofType[0]!.planned.fields.description?.delete?.batch;
		return chunks(ofType, batch?.takesVersion ? batch.maximum : 1);
	});
	return unlinked.length > 0 ? requests : requests.slice(0, 1);
}

/** Writes some of the steps that all wait for each other, without what they wait for. @returns whether any of them made progress */
async function writeDeadlocked(course: Course): Promise<boolean> {
	const steps = stepsToForce(course);
	for (const step of steps) step.state = 'forced';
	return await write(course, steps);
}

function stepsToForce(course: Course): UndoStep[] {
	const creations = pendingSteps(course, 'create');
	const untried = creations.filter(({ state }) => state === 'waiting');
	const untriedKeys = keysOf(untried);
	// Creations that link only to records that the CRM refuses to create.
	const waitInVain = untried.filter(({ toWrite }) => !waitsFor(course.links, toWrite, untriedKeys));
	if (waitInVain.length > 0) return waitInVain;
	// One of those that link to each other in a circle, or wait for it: if possible one that does not need its links.
	const inCircle = untried.find(({ toWrite }) => withLiveLinks(course.links, toWrite).action) ?? untried[0];
	if (inCircle) return [inCircle];
	// Creations with a value of a record to delete, which may be linked from what waits for them.
	const deletedIds = new Set(pendingSteps(course, 'delete').map(({ planned }) => planned.history.id));
	const heldUp = creations.filter(({ takenBy }) => takenBy !== undefined && deletedIds.has(takenBy));
	return heldUp.length > 0 ? heldUp : pendingSteps(course, 'update');
}

/** A step, and what it writes without links to missing records. */
interface Sending {
	step: UndoStep;
	sent: RecordUndo;
}

/** Writes steps, as far as there is something left to write. @returns whether any of them made progress */
async function write(course: Course, steps: UndoStep[]): Promise<boolean> {
	const requests = new Map<string, Sending[]>();
	for (const step of steps) {
		const sent = withLiveLinks(course.links, step.toWrite);
		const { action, history: { collection } } = sent;
		const isEmpty = !action || (action === 'update' && changesToSend(step, sent).length === 0);
		if (isEmpty) Object.assign(step, ended(step, sent));
		else getOrCreate(requests, `${action} ${collection}`, () => []).push({ step, sent });
	}
	for (const together of requests.values()) await send(course, together);
	return steps.some(({ state }) => state !== 'taken');
}

/**
 * Sends writes of one action and record type as every operation does: in batches, under idempotency keys and versions. A
 * creation is sent alone, under a key that names the deletion, so that the log shows which record was created for which.
 *
 * @throws Error that concerns not only this record or record type
 */
async function send(course: Course, together: Sending[]): Promise<void> {
	const { run } = course;
	const { action, history: { collection }, fields } = together[0]!.sent;
	const description = fields.description?.[action!];
	const signal = run.n8n.getExecutionCancelSignal();
	const mayContinue: MayContinue = (results) => !signal?.aborted && !results.some(isFatal);
	// A repeated undo makes another plan, and must not repeat the keys of an earlier one.
	const answers = description && description.refusal === undefined
		? await sendChanges(run, description, { collection, writes: together.map(writeOf), runKey: randomUUID() }, mayContinue)
		: together.map(() => new NotSent(description?.refusal ?? `The CRM’s API cannot ${action} records of ${collection}. Undo this change by hand.`));
	for (const [i, { step, sent }] of together.entries()) {
		const answer = answers[i];
		if (isFatal(answer)) throw answer;
		if (!answer) continue;
		Object.assign(step, stepAfter(step, sent, answer));
		const { newId } = step.result;
		if (newId !== undefined) course.links.newIds.set(sent.history.key, newId);
	}
	if (signal?.aborted) throw new Error('The execution was canceled');
}

function writeOf({ step, sent }: Sending): ChangeWrite {
	const { action, record, history: { deletion } } = sent;
	if (action === 'delete') return { record: record! };
	const patch: IDataObject = {};
	for (const { field, to } of changesToSend(step, sent)) setField(patch, field, to ?? null);
	return action === 'create' ? { patch, keySubject: deletion!.event } : { patch, record: record! };
}

/** Whether an answer is an error with which writes of other record types would fail, too. */
const isFatal = (answer: unknown): answer is Error => answer instanceof Error && !isRefused(answer);

function finalResult(step: UndoStep): RecordUndo {
	const { result } = step;
	const { action, newId } = result;
	if (isPending(step) && action === 'delete') return notWritten(result, explain('linkedSince'));
	// Another undo may have created the same record at the same time.
	return action === 'create' && newId !== undefined ? withCopies(result) : result;
}

function howFar(steps: UndoStep[]): string {
	const writtenCount = steps.filter((step) => !isPending(step) && step.result.action).length;
	const plannedCount = steps.filter(({ planned }) => planned.action).length;
	return `The undo stopped. About ${writtenCount} of ${plannedCount} records were written. Run it again: it continues with the rest.`;
}
