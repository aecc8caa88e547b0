import type { IDataObject } from 'n8n-workflow';

import type { Execution } from '../model';
import { fieldValue, hasSameValue } from './fieldValues';
import type { LiveLinks } from './links';
import type { LoggedChanges } from './loggedChanges';
import type { RecordUndo } from './recordUndo';
import type { FieldsByCollection } from './undoFields';
import type { UndoChoices } from './undoForm';
import { createdTwice, keptAsChanged, keptAsLinked, withLinkedRecordsKept } from './undoPlan';
import { afterWrite, sendUndoWrites } from './undoWrites';

/**
 * Carries out a plan. Its writes depend on each other: a value that must be unique becomes free when the record that
 * has it is undone, a created record can be deleted when nothing links to it any more, and a record can be linked to
 * when it was created again. So all that can be written is written, until nothing more can be; then something is
 * written without what it waits for. The log shows what others do meanwhile.
 */
export class UndoOrder {
	private readonly choices: UndoChoices;
	private readonly logged: LoggedChanges;
	private readonly links: LiveLinks;
	private readonly writer: UndoWriter;
	/** The writes that are not yet done: not tried, or refused because another record still has a unique value. */
	private open: RecordUndo[];
	/** The records that were written without a value or a link. */
	private readonly incomplete: RecordUndo[] = [];

	constructor(choices: UndoChoices, logged: LoggedChanges, writer: UndoWriter) {
		this.choices = choices;
		this.logged = logged;
		this.links = writer.links;
		this.writer = writer;
		this.open = writer.planned.filter(({ action }) => action);
	}

	/**
	 * @returns the outcome of each planned undo
	 * @throws NodeApiError if the service stops answering; the next undo continues
	 */
	async run(): Promise<RecordUndo[]> {
		do {
			for (let before = Infinity; this.open.length < before; ) {
				before = this.open.length;
				await this.write(this.openTo('update').filter((undo) => !this.links.waitsForCreation(undo)));
				await this.deleteUnlinked();
				await this.write(this.openTo('create').filter((undo) => !this.links.waitsForCreation(undo)));
			}
		} while (await this.writeIncomplete());
		await this.writer.complete(this.incomplete);
		for (const undo of this.openTo('delete')) this.writer.setOutcome(undo, keptAsLinked(undo));
		await this.logged.catchUp();
		return this.writer.allOutcomes().map(besideCopy);
	}

	private openTo(action: RecordUndo['action']): RecordUndo[] {
		return this.open.filter((undo) => undo.action === action);
	}

	private async write(undos: RecordUndo[], isLastAttempt = false): Promise<void> {
		await this.writer.write(undos, isLastAttempt);
		const isOpen = (undo: RecordUndo) => this.writer.isOpen(undo) && !(isLastAttempt && undos.includes(undo));
		this.open = this.open.filter(isOpen);
	}

	/**
	 * Writes something without what it waits for: a record that links to one that could not be created, or to another one
	 * in a circle, without its link; a record whose unique value a record to delete still has, which may be linked from those
	 * that wait for this one, without the value; and updates without the values that other records keep.
	 *
	 * @returns whether there was something to write
	 */
	private async writeIncomplete(): Promise<boolean> {
		const creations = this.openTo('create');
		const untried = creations.filter((undo) => !this.writer.hasOutcome(undo));
		const waiting = untried.filter((undo) => this.links.waitsForCreation(undo));
		const free = waiting.filter((undo) => !this.links.waitsForCreation(undo, untried));
		const circular = free.length > 0 ? free : waiting.slice(0, 1);
		const deletedIds = new Set(this.openTo('delete').map(({ history }) => history.id));
		const beside = circular.length > 0 ? [] : creations.filter((undo) => deletedIds.has(this.writer.outcomeOf(undo).holder ?? ''));
		const incomplete = [...circular, ...beside];
		this.incomplete.push(...incomplete);
		const undos = incomplete.length > 0 ? incomplete : this.openTo('update');
		// The record that an update links to may only wait for the value that this update gives back.
		if (incomplete.length === 0) this.incomplete.push(...undos.filter((undo) => this.links.waitsForCreation(undo)));
		await this.write(undos, true);
		return undos.length > 0;
	}

	/** Deletes the created records that no remaining record links to, dependents first. */
	private async deleteUnlinked(): Promise<void> {
		if (this.openTo('delete').length > 0) await this.logged.catchUp();
		for (let wave = this.deletableNow(); wave.length > 0; wave = this.deletableNow()) await this.deleteWave(wave);
	}

	/** The next records to delete. Those that others have changed meanwhile are kept. */
	private deletableNow(): RecordUndo[] {
		for (const undo of this.choices.takesPrecedence ? [] : this.openTo('delete')) {
			if (undo.history.isChangedByOthers) this.writer.setOutcome(undo, keptAsChanged(undo));
		}
		this.open = this.open.filter((undo) => this.writer.isOpen(undo));
		const deletions = this.openTo('delete');
		if (deletions.length === 0) return [];
		const { histories } = this.logged;
		const linkedAfterUndo = (undos: RecordUndo[]) =>
			histories.linkedAfterUndo(undos, this.choices.takesPrecedence, (undo) => this.writer.hasOutcome(undo));
		const unlinked = new Set(withLinkedRecordsKept(this.writer.allOutcomes(), linkedAfterUndo));
		return histories.links.deletableFirst(deletions.filter((undo) => unlinked.has(undo)));
	}

	/** Deletes records until one is refused, or until the log shows that others may have linked to one. */
	private async deleteWave(wave: RecordUndo[]): Promise<void> {
		for (let isAsPlanned = true, remaining = wave; isAsPlanned && remaining.length > 0; ) {
			const request = this.writer.firstDeletions(remaining);
			await this.write(request);
			remaining = remaining.filter((undo) => this.writer.isOpen(undo));
			const isRefused = request.some((undo) => !this.writer.outcomeOf(undo).action);
			isAsPlanned = this.openTo('delete').length > 0 && !(await this.logged.catchUp()) && !isRefused;
		}
	}
}

/** Reports that another undo has created the same record at the same time. */
function besideCopy(undo: RecordUndo): RecordUndo {
	const copy = undo.action === 'create' && undo.newId !== undefined && undo.history.recreations.find(({ id }) => id !== undo.newId);
	return copy ? { ...undo, result: 'conflict', reason: createdTwice(copy.id) } : undo;
}

/** Writes the undos of a plan, and holds the outcome of each. */
export class UndoWriter {
	readonly links: LiveLinks;
	private readonly execution: Execution;
	private readonly fields: FieldsByCollection;
	readonly planned: RecordUndo[];
	private readonly outcomes = new Map<RecordUndo, RecordUndo>();
	/** The records as the service returned them when they were written. */
	private readonly writtenRecords = new Map<RecordUndo, IDataObject>();

	constructor(execution: Execution, fields: FieldsByCollection, links: LiveLinks, planned: RecordUndo[]) {
		this.execution = execution;
		this.fields = fields;
		this.links = links;
		this.planned = planned;
	}

	hasOutcome = (undo: RecordUndo): boolean => this.outcomes.has(undo);

	/** Whether an undo was not tried, or was refused because another record has a unique value, which may become free. */
	isOpen = (undo: RecordUndo): boolean => !this.outcomes.has(undo) || this.outcomes.get(undo)!.isDuplicate === true;

	/** The outcome of a planned undo; before it has one, the plan itself. */
	outcomeOf(undo: RecordUndo): RecordUndo {
		return this.outcomes.get(undo) ?? undo;
	}

	setOutcome(undo: RecordUndo, outcome: RecordUndo): void {
		this.outcomes.set(undo, outcome);
	}

	allOutcomes(): RecordUndo[] {
		return this.planned.map((undo) => this.outcomeOf(undo));
	}

	/** The deletions of one request: the first of these, and those that can be sent with it. */
	firstDeletions(undos: RecordUndo[]): RecordUndo[] {
		const collection = undos[0]?.history.collection ?? '';
		const batch = this.fields.get(collection)?.description?.delete?.batch;
		return undos.filter(({ history }) => history.collection === collection).slice(0, batch?.takesVersion ? batch.maximum : 1);
	}

	/**
	 * Writes records, and writes them again without the values that the service refuses.
	 *
	 * @param isLastAttempt whether unique values that other records hold are left out, as they will not become free
	 */
	async write(undos: RecordUndo[], isLastAttempt = false): Promise<void> {
		let attempts = undos.map((undo) => ({ undo, attempt: this.links.resolve(undo) }));
		// The loop ends: each repetition leaves out a value.
		while (attempts.length > 0) {
			await this.writeOnce(attempts);
			attempts = attempts.flatMap(({ undo }) => {
				const { nextAttempt, isDuplicate } = this.outcomeOf(undo);
				return nextAttempt && (isLastAttempt || !isDuplicate) ? [{ undo, attempt: nextAttempt }] : [];
			});
		}
	}

	private async writeOnce(attempts: Array<{ undo: RecordUndo; attempt: RecordUndo }>): Promise<void> {
		for (const { undo, attempt } of attempts) if (!attempt.action) this.outcomes.set(undo, attempt);
		const writes = attempts.filter(({ attempt }) => attempt.action);
		const { answers, error } = await sendUndoWrites(this.execution, this.fields, writes.map(({ attempt }) => attempt));
		for (const [i, answer] of answers.entries()) {
			const { undo, attempt } = writes[i]!;
			const outcome = afterWrite(attempt, answer, this.fields.get(attempt.history.collection)!);
			this.outcomes.set(undo, outcome);
			if (!(answer instanceof Error)) this.writtenRecords.set(undo, answer);
			if (outcome.newId !== undefined) this.links.replaceId(outcome.history, outcome.newId);
		}
		if (!error) return;
		this.reportStop();
		throw error;
	}

	/** Writes the values that are missing in written records: links to records that were created later, and values that have become free. */
	async complete(undos: RecordUndo[]): Promise<void> {
		for (const undo of undos) {
			const [resolved, outcome, current] = [this.links.resolve(undo), this.outcomeOf(undo), this.writtenRecords.get(undo) ?? undo.current];
			const writtenValue = (name: string) => outcome.changes.find(({ field, kept }) => field === name && !kept)?.to;
			const missingChanges = resolved.changes.filter(({ field, to, kept }) => !kept && !hasSameValue(to, writtenValue(field)));
			if (!current || missingChanges.length === 0) continue;
			const changes = missingChanges.map((change) => ({ ...change, from: fieldValue(current, change.field) }));
			const completion: RecordUndo = { ...resolved, action: 'update', current, changes };
			const { answers: [answer], error } = await sendUndoWrites(this.execution, this.fields, [completion]);
			if (error) throw error;
			if (answer && !(answer instanceof Error)) this.outcomes.set(undo, { ...resolved, ...(outcome.newId !== undefined && { newId: outcome.newId }) });
		}
	}

	private reportStop(): void {
		const writtenCount = [...this.outcomes.values()].filter(({ action }) => action).length;
		const plannedCount = this.planned.filter(({ action }) => action).length;
		this.execution.api.notices.add(
			`The undo stopped. About ${writtenCount} of ${plannedCount} records were written. Run it again: it continues with the rest.`,
		);
	}
}
