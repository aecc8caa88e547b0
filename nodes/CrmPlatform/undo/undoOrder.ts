import type { IDataObject } from 'n8n-workflow';

import type { Execution } from '../model';
import { hasSameValue } from './fieldValues';
import type { Histories } from './histories';
import type { LiveLinks } from './links';
import type { LoggedChanges } from './loggedChanges';
import type { RecordUndo, UndoAction } from './recordUndo';
import type { FieldsByCollection } from './undoFields';
import type { UndoChoices } from './undoForm';
import { createdTwice, duplicateUndos, keptAsChanged, keptAsLinked, keptBeyondMaximum, withLinkedRecordsKept } from './undoPlan';
import { afterWrite, sendUndoWrites, writeFor } from './undoWrites';

/**
 * Carries out a plan. Its writes depend on each other: a value that must be unique becomes free when the record that
 * has it is undone, a created record can be deleted when nothing links to it any more, and a record can be linked to
 * when it was created again. The log shows what others do meanwhile.
 */
export class UndoOrder {
	private readonly choices: UndoChoices;
	private readonly logged: LoggedChanges;
	private readonly histories: Histories;
	private readonly links: LiveLinks;
	private readonly writer: UndoWriter;
	/** The updates that are not yet written. */
	private updates: RecordUndo[];
	/** The updates that link to records that are created again. */
	private readonly linkingUpdates: RecordUndo[];
	/** The deletions that are not yet written. */
	private deletions: RecordUndo[];

	constructor(choices: UndoChoices, logged: LoggedChanges, writer: UndoWriter) {
		const { links } = writer;
		const updates = writer.plannedTo('update');
		this.choices = choices;
		this.logged = logged;
		this.histories = logged.histories;
		this.links = links;
		this.writer = writer;
		this.updates = updates.filter((undo) => !links.waitsForCreation(undo));
		this.linkingUpdates = updates.filter((undo) => links.waitsForCreation(undo));
		this.deletions = writer.plannedTo('delete');
	}

	/**
	 * @returns the outcome of each planned undo, and of each duplicate that was found on the way
	 * @throws NodeApiError if the service stops answering; the next undo continues
	 */
	async run(): Promise<RecordUndo[]> {
		await this.writeUpdatesAndDeletions();
		await this.createRecords();
		const createdWithoutValue = await this.createBesideHolders();
		await this.writer.write(this.linkingUpdates);
		await this.writeUpdatesAndDeletions();
		await this.writer.complete(createdWithoutValue);
		if (this.linkingUpdates.length > 0) await this.retryCreations();
		// Records that still block each other are written without the disputed values.
		await this.writer.write(this.writer.refusedAsDuplicates('update'), true);
		await this.deleteUnlinked();
		for (const undo of this.deletions) this.writer.setOutcome(undo, keptAsLinked(undo));
		await this.logged.catchUp();
		return this.writer.allOutcomes();
	}

	/** Repeats updates and deletions as long as they make progress: each may free a value or a record that another one needs. */
	private async writeUpdatesAndDeletions(): Promise<void> {
		const openCount = () => this.updates.length + this.deletions.length;
		for (let previousCount = Infinity; openCount() < previousCount; ) {
			previousCount = openCount();
			await this.writer.write(this.updates);
			this.updates = this.updates.filter((undo) => this.writer.outcomeOf(undo).isDuplicate);
			await this.deleteUnlinked();
		}
	}

	/** Creates deleted records again, then adds the links between records that link to each other. */
	private async createRecords(): Promise<void> {
		const createdWithoutLink: RecordUndo[] = [];
		for (const wave of this.links.creationWaves(this.writer.plannedTo('create'))) {
			createdWithoutLink.push(...wave.filter((undo) => this.links.waitsForCreation(undo)));
			await this.create(wave);
		}
		await this.writer.complete(createdWithoutLink);
	}

	/**
	 * Creates records without a unique value that a record to delete still holds: that one stays while others link to
	 * it, and these may wait for a link to the record that is created here.
	 *
	 * @returns the creations, which lack a value
	 */
	private async createBesideHolders(): Promise<RecordUndo[]> {
		const isHeld = (undo: RecordUndo) => this.deletions.some(({ history }) => history.id === this.writer.outcomeOf(undo).holder);
		const undos = this.writer.refusedAsDuplicates('create').filter(isHeld);
		if (undos.length > 0) await this.create(undos, true);
		return undos;
	}

	/** Creates records whose unique values have become free meanwhile. */
	private async retryCreations(): Promise<void> {
		const undos = this.writer.refusedAsDuplicates('create');
		if (undos.length === 0) return;
		await this.create(undos);
		await this.writeUpdatesAndDeletions();
	}

	private async create(undos: RecordUndo[], isLastAttempt = false): Promise<void> {
		await this.writer.write(undos, isLastAttempt);
		await this.findDuplicates();
	}

	/** Deletes the created records that no remaining record links to, dependents first. */
	private async deleteUnlinked(): Promise<void> {
		if (this.deletions.length > 0) await this.logged.catchUp();
		while (this.deletions.length > 0) {
			this.keepChanged();
			const wave = this.deletableNow();
			if (wave.length === 0) return;
			await this.deleteWave(wave);
		}
	}

	/** Keeps the records that others have changed meanwhile. */
	private keepChanged(): void {
		for (const undo of this.deletions) {
			const { duplicateOf, isCreated, isChangedByOthers } = undo.history;
			if (duplicateOf?.recreation.isChanged) this.writer.setOutcome(undo, keptAsLinked(undo));
			else if (isCreated && isChangedByOthers && !this.choices.takesPrecedence) this.writer.setOutcome(undo, keptAsChanged(undo));
		}
		this.deletions = this.writer.withoutOutcome(this.deletions);
	}

	private deletableNow(): RecordUndo[] {
		const outcomes = this.writer.allOutcomes();
		const openUndos = new Set(this.writer.withoutOutcome(this.writer.planned));
		const linkedAfterUndo = (undos: RecordUndo[]) =>
			this.histories.linkedAfterUndo(undos, this.choices.takesPrecedence, (undo) => !openUndos.has(undo));
		const unlinked = new Set(withLinkedRecordsKept(outcomes, linkedAfterUndo));
		return this.histories.links.deletableFirst(this.deletions.filter((undo) => unlinked.has(undo)));
	}

	/** Deletes records until one is refused, or until the log shows that others may have linked to one. */
	private async deleteWave(wave: RecordUndo[]): Promise<void> {
		for (let isAsPlanned = true, remaining = wave; isAsPlanned && remaining.length > 0; ) {
			const request = this.writer.firstDeletions(remaining);
			await this.writer.write(request);
			remaining = this.writer.withoutOutcome(remaining);
			this.deletions = this.writer.withoutOutcome(this.deletions);
			const isRefused = request.some((undo) => !this.writer.outcomeOf(undo).action);
			isAsPlanned = this.deletions.length > 0 && !(await this.logged.catchUp()) && !isRefused;
		}
	}

	/** If two undos have created the same record, both keep the first one. */
	private async findDuplicates(): Promise<void> {
		await this.logged.catchUp();
		const { takesPrecedence, isSightLimited } = this.choices;
		for (const undo of this.writer.plannedTo('create')) {
			const outcome = this.writer.outcomeOf(undo);
			const { history, newId } = outcome;
			const living = history.recreations.filter(({ isGone }) => !isGone);
			const [first] = living;
			if (newId === undefined || !first) continue;
			if (first.id !== newId) {
				this.writer.setOutcome(undo, { ...outcome, result: 'already_so', newId: first.id, reason: createdTwice(first.id) });
			}
			this.links.replaceId(history, first.id);
			const duplicates = duplicateUndos(history, living, takesPrecedence || isSightLimited, ({ id, state }) => ({
				id,
				version: state.version as number,
				updated_at: state.time as string,
			}));
			for (const duplicate of duplicates) this.addDuplicate(duplicate);
		}
	}

	/** Adds the deletion of a duplicate to the plan, if *Maximum Records* allows another record. */
	private addDuplicate(duplicate: RecordUndo): void {
		const { planned } = this.writer;
		if (planned.some(({ history }) => history.id === duplicate.history.id)) return;
		const isBeyondMaximum = duplicate.action && planned.filter(({ action }) => action).length >= this.choices.maximum;
		this.writer.add(isBeyondMaximum ? keptBeyondMaximum(duplicate) : duplicate);
		if (duplicate.action && !isBeyondMaximum) this.deletions.push(duplicate);
	}
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
		this.planned = [...planned];
	}

	/** Adds an undo to the plan. */
	add(undo: RecordUndo): void {
		this.planned.push(undo);
	}

	plannedTo(action: UndoAction): RecordUndo[] {
		return this.planned.filter((undo) => undo.action === action);
	}

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

	withoutOutcome(undos: readonly RecordUndo[]): RecordUndo[] {
		return undos.filter((undo) => !this.outcomes.has(undo));
	}

	/** The undos that the service refused because another record holds a unique value. */
	refusedAsDuplicates(action: UndoAction): RecordUndo[] {
		return this.plannedTo(action).filter((undo) => this.outcomeOf(undo).isDuplicate);
	}

	/** The deletions of one request: the first of these, and those that can be sent with it. */
	firstDeletions(undos: RecordUndo[]): RecordUndo[] {
		const collection = undos[0]?.history.collection ?? '';
		const batch = this.fields.get(collection)?.description?.delete?.batch;
		return undos.filter(({ history }) => history.collection === collection).slice(0, batch?.takesVersion ? batch.maximum : 1);
	}

	/**
	 * Writes records, and writes them again if the service refuses or alters some of their values.
	 *
	 * @param isLastAttempt whether unique values that other records hold are left out, as they will not become free
	 */
	async write(undos: RecordUndo[], isLastAttempt = false): Promise<void> {
		let attempts = undos.map((undo) => ({ undo, attempt: this.links.resolve(undo) }));
		// The loop ends: each repetition leaves out a value, or is the second and last one.
		while (attempts.length > 0) {
			await this.writeOnce(attempts);
			attempts = attempts.flatMap(({ undo }) => {
				const { nextAttempt, isDuplicate } = this.outcomeOf(undo);
				return nextAttempt && (isLastAttempt || !isDuplicate) ? [{ undo, attempt: nextAttempt }] : [];
			});
		}
	}

	private async writeOnce(attempts: Array<{ undo: RecordUndo; attempt: RecordUndo }>): Promise<void> {
		const writes = attempts.flatMap(({ undo, attempt }) => {
			const write = writeFor(attempt);
			if (!write) this.outcomes.set(undo, attempt);
			return write ? [{ undo, attempt, write }] : [];
		});
		const { answers, error } = await sendUndoWrites(this.execution, this.fields, writes.map(({ write }) => write));
		for (const [i, answer] of answers.entries()) {
			const { undo, attempt } = writes[i]!;
			const outcome = afterWrite(attempt, answer, this.fields.get(attempt.history.collection));
			this.outcomes.set(undo, outcome);
			if ('record' in answer) this.writtenRecords.set(undo, answer.record);
			if (outcome.newId !== undefined) this.links.replaceId(outcome.history, outcome.newId);
		}
		if (!error) return;
		this.reportStop();
		throw error;
	}

	/** Writes the values that are missing in created records: links to records that were created later, and values that have become free. */
	async complete(undos: RecordUndo[]): Promise<void> {
		for (const undo of undos) {
			const [resolved, outcome, current] = [this.links.resolve(undo), this.outcomeOf(undo), this.writtenRecords.get(undo)];
			const writtenValue = (name: string) => outcome.changes.find(({ field, kept }) => field === name && !kept)?.to;
			const missingChanges = resolved.changes.filter(({ field, to }) => !hasSameValue(to, writtenValue(field)));
			if (!current || outcome.newId === undefined || outcome.result === 'already_so' || missingChanges.length === 0) continue;
			const changes = missingChanges.map((change) => ({ ...change, from: current[change.field] }));
			const write = writeFor({ ...resolved, action: 'update', current, changes })!;
			const { answers: [answer], error } = await sendUndoWrites(this.execution, this.fields, [write]);
			if (error) throw error;
			if (answer && 'record' in answer) this.outcomes.set(undo, { ...resolved, newId: outcome.newId });
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
