import type { IDataObject } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';

import { refusedRecord } from '../api/http/statuses';
import { isAnsweredWith, isWebPage } from '../api/record';
import { hasSameValue } from '../base/json';
import { getOrCreate } from '../base/maps';
import { type ChangeWrite, writeChanges } from '../changes/apply';
import { fieldValue, setField } from '../log/eventFields';
import type { Execution, MayContinue } from '../model';
import { leftAsItIs, type RecordUndo } from './history';
import { type LiveLinks, recordKey } from './links';
import type { LoggedChanges } from './loggedChanges';
import { because } from './reasons';
import type { FieldsByCollection } from './undoFields';
import type { UndoChoices } from './undoForm';
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
 * Carries out a plan. Its writes depend on each other: a value that must be unique becomes free when the record that
 * has it is undone, a created record can be deleted when nothing links to it any more, and a record can be linked to
 * when it was created again. So the steps that wait for nothing are written, round after round; when the rest wait for
 * each other, some are written without what they wait for. The log shows what others do meanwhile.
 */
export class UndoOrder {
	private readonly undoing: Undoing;
	private readonly steps: UndoStep[];
	/** The steps that were written without something that is written at the end. */
	private readonly incomplete = new Set<UndoStep>();

	constructor(undoing: Undoing, planned: RecordUndo[]) {
		this.undoing = undoing;
		this.steps = planned.map(stepFor);
	}

	/**
	 * @returns the outcome of each planned undo
	 * @throws NodeApiError if the service stops answering; the next undo continues
	 */
	async run(): Promise<RecordUndo[]> {
		let isStopped = true;
		try {
			while ((await this.writeReady()) || (await this.writeIncomplete())) continue;
			await this.complete();
			await this.undoing.logged.catchUp();
			isStopped = false;
		} finally {
			if (isStopped) this.undoing.execution.api.notices.add(howFar(this.steps));
		}
		return this.steps.map(finalOutcome);
	}

	/** Writes the steps that wait for nothing. @returns whether any of them made progress */
	private async writeReady(): Promise<boolean> {
		const areUpdated = await this.write(this.ready('update'));
		const areDeleted = await this.deleteUnlinked();
		const areCreated = await this.write(this.ready('create'));
		return areUpdated || areDeleted || areCreated;
	}

	/** The open steps that link to no record that is yet to be created. */
	private ready(action: RecordUndo['action']): UndoStep[] {
		const isWaiting = this.waitsForOneOf(this.open('create'));
		return this.open(action).filter((step) => !isWaiting(step));
	}

	private open(action: RecordUndo['action']): UndoStep[] {
		return this.steps.filter(({ state, planned }) => state !== 'done' && planned.action === action);
	}

	/** Returns a function that checks whether a step links to a record that one of these creations brings back. */
	private waitsForOneOf(creations: UndoStep[]): (step: UndoStep) => boolean {
		const keys = new Set(creations.map(({ planned }) => recordKey(planned.history)));
		return ({ next }) => this.undoing.links.waitsFor(next, keys);
	}

	/**
	 * Deletes the created records that no remaining record links to, dependents first, as many as one request takes.
	 *
	 * @returns whether any of them is done
	 */
	private async deleteUnlinked(): Promise<boolean> {
		const { fields, logged } = this.undoing;
		const openBefore = this.open('delete').length;
		let wave: UndoStep[] = [];
		while (this.open('delete').length > 0) {
			if ((await logged.catchUp()) || wave.length === 0) wave = this.unlinked();
			const collection = wave[0]?.planned.history.collection;
			if (collection === undefined) break;
			const batch = fields.get(collection)?.description?.delete?.batch;
			const maximum = batch?.takesVersion ? batch.maximum : 1;
			const request = wave.filter(({ planned }) => planned.history.collection === collection).slice(0, maximum);
			await this.write(request);
			// A record that the CRM does not delete may link to the others.
			const isRefused = request.some(({ outcome }) => !outcome.action);
			wave = isRefused ? [] : wave.filter(({ state }) => state !== 'done');
		}
		return this.open('delete').length < openBefore;
	}

	/** The records to delete next. Those that others have changed meanwhile are kept. */
	private unlinked(): UndoStep[] {
		const { choices: { takesPrecedence }, logged: { records: { links } } } = this.undoing;
		for (const step of takesPrecedence ? [] : this.open('delete')) {
			const { history } = step.planned;
			if (history.changedByOthers.size > 0) Object.assign(step, { state: 'done', outcome: leftAsItIs(history, because('changedSince')) });
		}
		const linkedIds = links.linkedAfterUndo(this.steps.map(({ outcome }) => outcome), false);
		const unlinked = this.open('delete').filter(({ planned }) => !linkedIds.has(planned.history.id));
		const first = new Set(links.deletableFirst(unlinked.map(({ planned }) => planned)));
		return unlinked.filter(({ planned }) => first.has(planned));
	}

	/** Writes the first kind of steps that there are, without what they wait for. @returns whether any of them made progress */
	private async writeIncomplete(): Promise<boolean> {
		const creations = this.open('create');
		const untried = creations.filter(({ state }) => state === 'waiting');
		const isWaiting = this.waitsForOneOf(untried);
		const deletedIds = new Set(this.open('delete').map(({ planned }) => planned.history.id));
		const steps = [
			// Creations that link only to records that the CRM refuses to create.
			untried.filter((step) => !isWaiting(step)),
			// One of those that link to each other in a circle.
			untried.slice(0, 1),
			// Creations with a value of a record to delete, which may be linked from what waits for them.
			creations.filter(({ holder }) => holder !== undefined && deletedIds.has(holder)),
			this.open('update'),
		].find(({ length }) => length > 0) ?? [];
		const lacksLink = this.waitsForOneOf(creations);
		for (const step of steps) {
			step.state = 'last';
			// The record that an update links to may only wait for the value that this update gives back.
			if (step.planned.action === 'create' || lacksLink(step)) this.incomplete.add(step);
		}
		return await this.write(steps);
	}

	/** Writes the values that are missing in written records: links to records that were created later, and values that have become free. */
	private async complete(): Promise<void> {
		for (const step of this.steps) {
			if (!this.incomplete.has(step)) continue;
			const { planned, outcome, written: record = planned.record } = step;
			const resolved = this.undoing.links.resolve(planned);
			const writtenValue = (name: string) => outcome.changes.find(({ field, kept }) => field === name && !kept)?.to;
			const missing = resolved.changes.filter(({ field, to, kept }) => !kept && !hasSameValue(to, writtenValue(field)));
			if (!record || missing.length === 0) continue;
			const changes = missing.map((change) => ({ ...change, from: fieldValue(record, change.field) }));
			const completion = stepFor({ ...resolved, action: 'update', record, changes });
			await this.write([completion]);
			if (completion.written) step.outcome = { ...resolved, ...(outcome.newId !== undefined && { newId: outcome.newId }) };
		}
	}

	/** Writes steps, as far as there is something left to write. @returns whether any of them made progress */
	private async write(steps: UndoStep[]): Promise<boolean> {
		const groups = new Map<string, UndoStep[]>();
		for (const step of steps) {
			step.next = this.undoing.links.resolve(step.next);
			const { action, history: { collection } } = step.next;
			if (action) getOrCreate(groups, `${action} ${collection}`, () => []).push(step);
			else Object.assign(step, { state: 'done', outcome: step.next });
		}
		for (const group of groups.values()) await this.send(group);
		return steps.some(({ state }) => state !== 'taken');
	}

	/**
	 * Sends writes of one kind as every operation does: in batches, under idempotency keys and versions. A creation is sent
	 * alone, under a key that names the deletion, so that the log shows which record was created for which.
	 *
	 * @throws Error that does not concern just one record
	 */
	private async send(group: UndoStep[]): Promise<void> {
		const { execution, fields: fieldsByCollection, links } = this.undoing;
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
		const outcomes = await writeChanges(execution, description, { collection, writes, run }, mayContinue);
		for (const [i, outcome] of outcomes.entries()) {
			if (isFatal(outcome)) throw outcome;
			if (outcome) settle(group[i]!, outcome);
		}
		if (signal?.aborted) throw new Error('The execution was canceled');
	}
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
	if (state !== 'done' && action === 'delete') return leftAsItIs(history, because('linkedSince'));
	// Another undo may have created the same record at the same time.
	const copy = action === 'create' && newId !== undefined && history.recreations.find(({ id }) => id !== newId);
	return copy ? { ...outcome, ...because('createdTwice', copy.id) } : outcome;
}

function howFar(steps: UndoStep[]): string {
	const writtenCount = steps.filter(({ state, outcome }) => state === 'done' && outcome.action).length;
	const plannedCount = steps.filter(({ planned }) => planned.action).length;
	return `The undo stopped. About ${writtenCount} of ${plannedCount} records were written. Run it again: it continues with the rest.`;
}
