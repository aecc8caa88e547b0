import type { IDataObject } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';

import type { Reason } from '../api/http/errorWords';
import { isNotFound, isRefused, NotSent, refusalText } from '../api/refusals';
import { hasSameValue, idText } from '../base/json';
import { chunks } from '../base/lists';
import { getOrCreate } from '../base/maps';
import { pointerSteps } from '../base/ownMembers';
import { type FieldChange, changedSinceRead, type ChangeWrite, sendChanges } from '../changes/apply';
import { allCustomFields, customFieldPrefix } from '../fields/field';
import { fieldValue, hasField, nameInEvents, setField } from '../log/eventFields';
import type { NodeRun, ProceedAfter } from '../model';
import { type LinkTargets, waitsFor, withLiveLinks } from './undoLinks';
import type { LoggedChanges } from './loggedChanges';
import { explain, type Explanation, sentences } from './reasons';
import { allKept, notWritten, type RecordUndo, withCopies, withExplanations, withoutFields } from './recordUndo';
import type { UndoPlan } from './undoPlan';

// The writes of an undo depend on each other: a value that must be unique becomes free when the record that has it is undone,
// a created record can be deleted when nothing links to it any more, and a record can be linked to when it was created again.

interface Course {
	run: NodeRun;
	logged: LoggedChanges;
	targets: LinkTargets;
	/** As they are now, by the keys of their records, in the order of the plan. */
	steps: Map<string, UndoStep>;
}

/**
 * Carries out a plan: writes what waits for nothing, round after round, and when the rest wait for each other, some of it
 * without what it waits for. The log shows what others do meanwhile.
 *
 * @returns the result of each planned undo
 * @throws NodeApiError if the service stops answering; the next undo continues
 */
export async function writeUndos(run: NodeRun, logged: LoggedChanges, { planned, targets }: UndoPlan): Promise<RecordUndo[]> {
	const steps = new Map(planned.map((undo) => [undo.history.key, firstStep(undo)]));
	const course: Course = { run, logged, targets, steps };
	try {
		for (let isMoving = true; isMoving; ) {
			const areUpdated = await write(course, readySteps(course, 'update'));
			const areDeleted = await deleteUnlinked(course);
			const areCreated = await write(course, readySteps(course, 'create'));
			isMoving = areUpdated || areDeleted || areCreated || (await writeDeadlocked(course));
		}
		for (const key of steps.keys()) while (steps.get(key)!.state === 'incomplete') await write(course, [steps.get(key)!]);
		await logged.catchUp();
	} catch (error) {
		run.api.notices.add(howFar([...steps.values()]));
		throw error as Error;
	}
	return [...steps.values()].map(finalResult);
}

/** The steps with an action that are still to be written, but for what completes them at the end. */
const pendingSteps = ({ steps }: Course, action: RecordUndo['action']): UndoStep[] =>
	[...steps.values()].filter((step) => isPending(step) && step.planned.action === action);

const keysOf = (steps: UndoStep[]): ReadonlySet<string> => new Set(steps.map(({ planned }) => planned.history.key));

/** The pending steps that link to no record that is yet to be created, or do not wait for it. */
function readySteps(course: Course, action: 'update' | 'create'): UndoStep[] {
	const creations = keysOf(pendingSteps(course, 'create'));
	return pendingSteps(course, action).filter(({ state, toWrite }) => state === 'forced' || !waitsFor(course.targets, toWrite, creations));
}

/** Deletes created records to which nothing links, dependents first. The log shows links made meanwhile. @returns whether any of them is done */
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
function nextDeletions({ logged: { links }, steps }: Course, pending: UndoStep[]): UndoStep[][] {
	const linkedKeys = links.linkedKeys([...steps.values()].map(({ reported }) => reported), 'now');
	const deletable = pending.filter(({ planned }) => !linkedKeys.has(planned.history.key));
	const linkedByOthers = new Set(deletable.flatMap(({ planned }) => links.linkedFrom(planned.history)));
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
	return await write(course, stepsToForce(course).map((step) => ({ ...step, state: 'forced' })));
}

function stepsToForce(course: Course): UndoStep[] {
	const { targets } = course;
	const creations = pendingSteps(course, 'create');
	const untried = creations.filter(({ state }) => state === 'waiting');
	const untriedKeys = keysOf(untried);
	// Creations that link only to records that the CRM refuses to create.
	const waitInVain = untried.filter(({ toWrite }) => !waitsFor(targets, toWrite, untriedKeys));
	if (waitInVain.length > 0) return waitInVain;
	// One of those that link to each other in a circle, or wait for it: if possible one that does not need its links.
	const inCircle = untried.find(({ toWrite }) => withLiveLinks(targets, toWrite).action) ?? untried[0];
	if (inCircle) return [inCircle];
	// Creations with a value of a record to delete, which may be linked from what waits for them.
	const deletedIds = new Set(pendingSteps(course, 'delete').map(({ planned }) => planned.history.id));
	const heldUp = creations.filter(({ takenBy }) => takenBy !== undefined && deletedIds.has(takenBy));
	return heldUp.length > 0 ? heldUp : pendingSteps(course, 'update');
}

/** What a step writes, without links to missing records. */
type Sending = { step: UndoStep; toSend: RecordUndo };

/** Writes steps, as far as there is something left to write. @returns whether any of them made progress */
async function write(course: Course, steps: UndoStep[]): Promise<boolean> {
	const requests = new Map<string, Sending[]>();
	for (const step of steps) {
		const toSend = withLiveLinks(course.targets, step.toWrite);
		const { action, history: { collection } } = toSend;
		const isEmpty = !action || (action === 'update' && changesLeft(step, toSend).length === 0);
		if (isEmpty) course.steps.set(step.planned.history.key, ended(step, toSend));
		else getOrCreate(requests, `${action} ${collection}`, () => []).push({ step, toSend });
	}
	for (const together of requests.values()) await send(course, together);
	return steps.some(({ planned }) => course.steps.get(planned.history.key)!.state !== 'taken');
}

/**
 * Sends writes of one action and record type as every operation does: in batches, under idempotency keys and versions. A
 * creation is sent alone, under a key that names the deletion, so that the log shows which record was created for which.
 *
 * @throws Error that concerns not only this record or record type
 */
async function send({ run, targets, steps }: Course, together: Sending[]): Promise<void> {
	const { action, history: { collection }, fields } = together[0]!.toSend;
	const description = fields.description?.[action!];
	const signal = run.n8n.getExecutionCancelSignal();
	const proceedAfter: ProceedAfter = (results) => !signal?.aborted && !results.some(isFatal);
	// A repeated undo makes another plan, and must not repeat the keys of an earlier one.
	const answers = description && description.refusal === undefined
		? await sendChanges(run, description, { collection, writes: together.map(writeOf), runKey: randomUUID() }, proceedAfter)
		: together.map(() => new NotSent(description?.refusal ?? `The CRM’s API cannot ${action} records of ${collection}. Undo this change by hand.`));
	for (const [i, { step, toSend }] of together.entries()) {
		const answer = answers[i];
		if (isFatal(answer)) throw answer;
		if (!answer) continue;
		const { key } = toSend.history;
		const next = stepAfter(step, toSend, answer);
		steps.set(key, next);
		if (next.reported.newId !== undefined) targets.newIds.set(key, next.reported.newId);
	}
	if (signal?.aborted) throw new Error('The execution was canceled');
}

function writeOf({ step, toSend }: Sending): ChangeWrite {
	const { action, record, history: { deletion } } = toSend;
	if (action === 'delete') return { record: record! };
	const patch: IDataObject = {};
	for (const { field, to } of changesLeft(step, toSend)) setField(patch, field, to ?? null);
	return action === 'create' ? { patch, keySubject: deletion!.event } : { patch, record: record! };
}

/** Whether an answer is an error with which writes of other record types would fail, too. */
const isFatal = (answer: unknown): answer is Error => answer instanceof Error && !isRefused(answer);

function finalResult(step: UndoStep): RecordUndo {
	const { reported } = step;
	const { action, newId } = reported;
	if (isPending(step) && action === 'delete') return notWritten(reported, explain('linkedSince'));
	// Another undo may have created the same record at the same time.
	return action === 'create' && newId !== undefined ? withCopies(reported) : reported;
}

function howFar(steps: UndoStep[]): string {
	const writtenCount = steps.filter((step) => !isPending(step) && step.reported.action).length;
	const plannedCount = steps.filter(({ planned }) => planned.action).length;
	return `The undo stopped. About ${writtenCount} of ${plannedCount} records were written. Run it again: it continues with the rest.`;
}

/** A planned undo on its way to what the output says of it. */
interface UndoStep {
	readonly planned: RecordUndo;
	/**
	 * - `waiting`: to be written when the records exist that it links to
	 * - `taken`: the CRM has refused a value because another record has it, and it may become free: to be written again
	 * - `forced`: to be written without links to missing records, and without refused values
	 * - `incomplete`: was forced; when all others are done, what it lacks is to be written
	 * - `done`: not to be written any more
	 */
	readonly state: 'waiting' | 'taken' | 'forced' | 'incomplete' | 'done';
	/** As planned, but without the values that the CRM has refused. */
	readonly toWrite: RecordUndo;
	/** What the output says: until the CRM has answered, the plan. */
	readonly reported: RecordUndo;
	/** If a value is taken: the id of the record that has it, if the CRM reports it. */
	readonly takenBy?: string | undefined;
	readonly accepted: FieldChange[];
}

const firstStep = (planned: RecordUndo): UndoStep =>
	({ planned, state: planned.action === undefined ? 'done' : 'waiting', toWrite: planned, reported: planned, accepted: [] });

/** Whether it is still to be written, but for what completes it at the end. */
const isPending = ({ state }: UndoStep): boolean => state !== 'done' && state !== 'incomplete';

/** The changes of an undo that the CRM has not accepted yet. */
const changesLeft = ({ accepted }: UndoStep, { changes }: RecordUndo): FieldChange[] =>
	changes.filter(({ field, to, kept }) => !kept && !accepted.some((change) => change.field === field && hasSameValue(change.to, to)));

/** @param sent what was written, without links to missing records */
function stepAfter(step: UndoStep, sent: RecordUndo, answer: IDataObject | Error): UndoStep {
	if (!(answer instanceof Error)) {
		// What completes a creation is sent as an update.
		const reported = asStored({ ...sent, action: step.planned.action! }, answer);
		return ended({ ...step, reported, accepted: changesLeft(step, sent) }, reported);
	}
	const refused: RecordUndo = { ...sent, action: undefined, changes: allKept(sent.changes), ...explainRefusal(sent, answer) };
	if (changedSinceRead(answer) !== undefined) return ended(step, refused);
	const isForced = step.state === 'forced' || step.state === 'incomplete';
	const isTaken = !isForced && isValueTaken(sent, answer);
	const toWrite = isTaken ? step.toWrite : withoutRefusedValues(step.toWrite, answer);
	if (!toWrite.action) return ended(step, refused);
	const next = { ...withReported(step, refused), toWrite };
	if (isTaken) return { ...next, state: 'taken', takenBy: idText(refusalDetails(answer).existing_id) };
	return isForced ? next : { ...next, state: 'waiting' };
}

/** A step ends when nothing is left to write. If it was forced and its record exists, what it lacks is yet to be written. */
function ended(step: UndoStep, result: RecordUndo): UndoStep {
	const { record, newId } = result;
	const next = withReported(step, result);
	if (step.state !== 'forced' || record === undefined) return { ...next, state: 'done' };
	return { ...next, state: 'incomplete', toWrite: { ...step.planned, action: 'update', record, newId } };
}

/** What cannot be completed stays reported as it is. */
const withReported = (step: UndoStep, reported: RecordUndo): UndoStep => (step.state === 'incomplete' ? step : { ...step, reported });

function explainRefusal(sent: RecordUndo, refusal: Error): Explanation {
	if (sent.action === 'delete' && isNotFound(refusal)) return explain('alreadyGone');
	const change = changedSinceRead(refusal);
	if (change !== undefined) return explain('changedAfterRead', change);
	if (sent.action === 'update' && isValueTaken(sent, refusal)) return explain('valueTaken');
	return explain('refused', refusalText(refusal, sentences(...textsOfRefusal(refusal))));
}

const isValueTaken = ({ action }: RecordUndo, refusal: Error): boolean => action !== 'delete' && refusalDetails(refusal).code === 'duplicate';

/** The result of a write that the CRM has accepted, with the record as it is now. It names the fields that have not become as planned. */
function asStored(undo: RecordUndo, answer: IDataObject): RecordUndo {
	const { action, changes, fields, result: planned, notSent = [] } = undo;
	const newId = action === 'create' ? idText(answer.id) ?? undo.newId : undo.newId;
	if (action === 'delete' || (action === 'create' && newId === undefined)) return undo;
	const isStoredOtherwise = ({ field, to, kept }: FieldChange) =>
		!kept && hasField(answer, field) && !fields.compare.covers(field, fieldValue(answer, field), to);
	const sentOtherwise = changes.filter(isStoredOtherwise);
	// Where something is kept, what depends on it is, too.
	const notSentOtherwise = planned === 'undone' ? notSent.filter(isStoredOtherwise) : [];
	const stored = changes.map((change): FieldChange => (sentOtherwise.includes(change) ? { ...change, kept: true } : change));
	const result: RecordUndo = { ...undo, record: answer, changes: [...stored, ...allKept(notSentOtherwise)], newId };
	const otherwise = [...sentOtherwise, ...notSentOtherwise].map(({ field }) => field);
	if (otherwise.length === 0) return result;
	const explanation = explain('storedOtherwise', otherwise.join(', '));
	// What no write takes is the service's own: all that could be undone is undone.
	return withExplanations(result, sentOtherwise.length > 0 ? explanation : { ...explanation, result: planned });
}

/** An undo without the values that the CRM has refused by name; without an action if it named none, or if nothing is left. */
function withoutRefusedValues(undo: RecordUndo, refusal: Error): RecordUndo {
	const { errors } = refusalDetails(refusal);
	const named = (Array.isArray(errors) ? (errors as Reason[]) : []).flatMap(({ pointer }) => (pointer === undefined ? [] : [fieldNameIn(pointer)]));
	const names = undo.fields.withDependents(named);
	const omitted = new Set(undo.changes.flatMap(({ field, kept }) => (!kept && names.has(nameInEvents(field)) ? [nameInEvents(field)] : [])));
	const rest = omitted.size === 0 ? { ...undo, action: undefined } : withoutFields(undo, names);
	const { result, reason } = explain('valuesRefused', [...omitted].join(', '));
	return withExplanations(rest, { result, reason: sentences(reason, ...textsOfRefusal(refusal)) });
}

/** The name of the field in a pointer (RFC 6901), as events name it. */
function fieldNameIn(pointer: string): string {
	const [first = '', second] = pointerSteps(pointer.replace(/^#?\/?items\/\d+(?=\/)/, ''));
	return first === allCustomFields && second !== undefined ? customFieldPrefix + second : first;
}

/** The members of the problem (RFC 9457) that the service reported. */
const refusalDetails = (refusal: Error): IDataObject => ((refusal as { context?: IDataObject }).context?.data ?? {}) as IDataObject;

/** The service's message without advice about a form, which an undo does not have. */
function textsOfRefusal(refusal: Error): string[] {
	const { message, description } = refusal as { message: string; description?: string | null };
	const lines = (description ?? '').split('\n').filter((line) => line !== '' && !formAdvice.test(line));
	return [message, ...lines].map((text) => (/[.!?]$/.test(text) ? text : `${text}.`));
}

const formAdvice = /^(To change .* instead, use Create or Update\.|Correct th(e|at) .*)$/;
