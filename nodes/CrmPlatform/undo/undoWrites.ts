import type { IDataObject } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';

import { isRefused } from '../api/record';
import { getOrCreate } from '../base/maps';
import { type ChangeWrite, sendChanges } from '../changes/apply';
import { setField } from '../log/eventFields';
import type { NodeRun, MayContinue } from '../model';
import { type LiveLinks, waitsFor, withLiveLinks } from './liveLinks';
import type { LoggedChanges } from './loggedChanges';
import { recordKey } from './loggedEvent';
import { explain } from './reasons';
import type { RecordHistory } from './recordHistories';
import { leftAsItIs, type RecordUndo, withCopies } from './recordUndo';
import type { UndoChoices } from './undoForm';
import { changesToSend, nextStep, type StepEvent, stepFor, type UndoStep } from './undoStep';

// The writes of an undo depend on each other: a value that must be unique becomes free when the record that has it is undone,
// a created record can be deleted when nothing links to it any more, and a record can be linked to when it was created again.

/** What carrying out a plan needs. */
export interface UndoContext {
	run: NodeRun;
	choices: UndoChoices;
	logged: LoggedChanges;
	links: LiveLinks;
}

type Action = NonNullable<RecordUndo['action']>;

/** How far an undo is. */
interface Course extends UndoContext {
	/** In the order of the plan. */
	steps: Map<RecordHistory, UndoStep>;
}

/**
 * Carries out a plan: writes what waits for nothing, round after round, and when the rest wait for each other, some of it
 * without what it waits for. The log shows what others do meanwhile.
 *
 * @returns the result of each planned undo
 * @throws NodeApiError if the service stops answering; the next undo continues
 */
export async function writeUndos(undoing: UndoContext, planned: RecordUndo[]): Promise<RecordUndo[]> {
	const course: Course = { ...undoing, steps: new Map(planned.map((undo) => [undo.history, stepFor(undo)])) };
	const incomplete = () => stepsOf(course).find(({ state }) => state === 'incomplete');
	try {
		for (let isMoving = true; isMoving; ) {
			const areUpdated = await write(course, readySteps(course, 'update'));
			const areDeleted = await deleteUnlinked(course);
			const areCreated = await write(course, readySteps(course, 'create'));
			isMoving = areUpdated || areDeleted || areCreated || (await write(course, forceDeadlocked(course)));
		}
		for (let step = incomplete(); step; step = incomplete()) await write(course, [step]);
		await undoing.logged.catchUp();
	} catch (error) {
		undoing.run.api.notices.add(howFar(stepsOf(course)));
		throw error as Error;
	}
	return stepsOf(course).map(finalResult);
}

const stepsOf = ({ steps }: Course): UndoStep[] => [...steps.values()];

/** Takes a step further. @returns the step as it is now */
function advance({ steps }: Course, { planned: { history } }: UndoStep, event: StepEvent): UndoStep {
	const next = nextStep(steps.get(history)!, event);
	steps.set(history, next);
	return next;
}

/** The steps that are still to be written, but for what completes them at the end. */
function pendingSteps(course: Course): Record<Action, UndoStep[]> {
	const pending: Record<Action, UndoStep[]> = { update: [], delete: [], create: [] };
	for (const step of stepsOf(course)) if (isPending(step)) pending[step.planned.action!].push(step);
	return pending;
}

const isPending = ({ state }: UndoStep): boolean => state !== 'done' && state !== 'incomplete';

const keysOf = (steps: UndoStep[]): ReadonlySet<string> => new Set(steps.map(({ planned }) => recordKey(planned.history)));

/** The pending steps that link to no record that is yet to be created, or do not wait for it. */
function readySteps(course: Course, action: 'update' | 'create'): UndoStep[] {
	const pending = pendingSteps(course);
	const creations = keysOf(pending.create);
	return pending[action].filter(({ state, rest }) => state === 'forced' || !waitsFor(course.links, rest, creations));
}

/**
 * Deletes the created records that no remaining record links to, dependents first. Before each request, the log shows
 * whether others have linked to one meanwhile.
 *
 * @returns whether any of them is done
 */
async function deleteUnlinked(course: Course): Promise<boolean> {
	for (let areDone = false; ; areDone = true) {
		const pending = pendingSteps(course).delete;
		if (pending.length === 0) return areDone;
		await course.logged.catchUp();
		const deletions = nextDeletions(course, pending);
		if (deletions.length === 0) return areDone;
		await write(course, deletions);
	}
}

/** The deletions of one request: of records of one type that no remaining record links to. */
function nextDeletions(course: Course, pending: UndoStep[]): UndoStep[] {
	const { choices: { takesPrecedence }, logged: { linksToCreated } } = course;
	const results = stepsOf(course).map(({ result }) => result);
	const linkedIds = takesPrecedence ? linksToCreated.linkedBy(results) : linksToCreated.linkedIds(results, 'now');
	const deletable = linksToCreated.deletableFirst(pending.filter(({ planned }) => !linkedIds.has(planned.history.id)));
	const [first] = deletable;
	const batch = first?.planned.fields.description?.delete?.batch;
	const ofOneType = deletable.filter(({ planned }) => planned.history.collection === first?.planned.history.collection);
	return ofOneType.slice(0, batch?.takesVersion ? batch.maximum : 1);
}

/** Forces some of the steps that all wait for each other to be written without what they wait for. */
const forceDeadlocked = (course: Course): UndoStep[] => stepsToForce(course).map((step) => advance(course, step, { is: 'deadlocked' }));

function stepsToForce(course: Course): UndoStep[] {
	const { links } = course;
	const pending = pendingSteps(course);
	const untried = pending.create.filter(({ state }) => state === 'waiting');
	const untriedKeys = keysOf(untried);
	// Creations that link only to records that the CRM refuses to create.
	const waitInVain = untried.filter(({ rest }) => !waitsFor(links, rest, untriedKeys));
	if (waitInVain.length > 0) return waitInVain;
	// One of those that link to each other in a circle, or wait for it: if possible one that does not need its links.
	const inCircle = untried.find(({ rest }) => withLiveLinks(links, rest).action) ?? untried[0];
	if (inCircle) return [inCircle];
	// Creations with a value of a record to delete, which may be linked from what waits for them.
	const deletedIds = new Set(pending.delete.map(({ planned }) => planned.history.id));
	const heldUp = pending.create.filter(({ holder }) => holder !== undefined && deletedIds.has(holder));
	return heldUp.length > 0 ? heldUp : pending.update;
}

/** A step, and its rest without links to missing records. */
interface Sending {
	step: UndoStep;
	sent: RecordUndo;
}

/** Writes steps, as far as there is something left to write. @returns whether any of them made progress */
async function write(course: Course, steps: UndoStep[]): Promise<boolean> {
	const requests = new Map<string, Sending[]>();
	for (const step of steps) {
		const sent = withLiveLinks(course.links, step.rest);
		const { action, history: { collection } } = sent;
		const isEmpty = !action || (action === 'update' && changesToSend(step, sent).length === 0);
		if (isEmpty) advance(course, step, { is: 'ended', result: sent });
		else getOrCreate(requests, `${action} ${collection}`, () => []).push({ step, sent });
	}
	for (const together of requests.values()) await send(course, together);
	return steps.some(({ planned }) => course.steps.get(planned.history)!.state !== 'taken');
}

/**
 * Sends writes of one action and record type as every operation does: in batches, under idempotency keys and versions. A creation is sent
 * alone, under a key that names the deletion, so that the log shows which record was created for which.
 *
 * @throws Error that concerns not only this record or record type
 */
async function send(course: Course, together: Sending[]): Promise<void> {
	const { run } = course;
	const { action, history: { collection }, fields } = together[0]!.sent;
	const description = fields.description?.[action!];
	if (!description || description.refusal !== undefined) {
		const answer = new Error(description?.refusal ?? `The CRM’s API cannot ${action} records of ${collection}. Undo this change by hand.`);
		for (const { step, sent } of together) advance(course, step, { is: 'answered', sent, answer });
		return;
	}
	const signal = run.n8n.getExecutionCancelSignal();
	const mayContinue: MayContinue = (results) => !signal?.aborted && !results.some(isFatal);
	// A repeated undo makes another plan, and must not repeat the keys of an earlier one.
	const answers = await sendChanges(run, description, { collection, writes: together.map(writeOf), runKey: randomUUID() }, mayContinue);
	for (const [i, { step, sent }] of together.entries()) {
		const answer = answers[i];
		if (isFatal(answer)) throw answer;
		if (!answer) continue;
		const { result: { newId } } = advance(course, step, { is: 'answered', sent, answer });
		if (newId !== undefined) course.links.newIds.set(recordKey(sent.history), newId);
	}
	if (signal?.aborted) throw new Error('The execution was canceled');
}

function writeOf({ step, sent }: Sending): ChangeWrite {
	const { action, record, history: { deletion } } = sent;
	if (action === 'delete') return { record: record! };
	const patch: IDataObject = {};
	for (const { field, to } of changesToSend(step, sent)) setField(patch, field, to ?? null);
	return action === 'create' ? { patch, deletion: deletion!.event } : { patch, record: record! };
}

/** Whether an answer is an error because of which other record types fail, too. */
const isFatal = (answer: unknown): answer is Error => answer instanceof Error && !isRefused(answer);

function finalResult(step: UndoStep): RecordUndo {
	const { result } = step;
	const { action, newId } = result;
	if (isPending(step) && action === 'delete') return leftAsItIs(result, explain('linkedSince'));
	// Another undo may have created the same record at the same time.
	return action === 'create' && newId !== undefined ? withCopies(result) : result;
}

function howFar(steps: UndoStep[]): string {
	const writtenCount = steps.filter((step) => !isPending(step) && step.result.action).length;
	const plannedCount = steps.filter(({ planned }) => planned.action).length;
	return `The undo stopped. About ${writtenCount} of ${plannedCount} records were written. Run it again: it continues with the rest.`;
}
