import type { IDataObject } from 'n8n-workflow';

import type { Execution } from '../model';
import type { LiveLinks } from './liveLinks';
import type { PlanFields } from './planFields';
import type { RecordUndo, UndoAction } from './recordUndo';
import { resolveLinks } from './resolveLinks';
import { hasSameValue } from './sameValue';
import { afterWrite } from './undoRefusals';
import { sendUndoWrites, writeFor } from './undoRequests';

/** Writes the undos of a plan, and holds the outcome of each. */
export class UndoWriter {
	readonly links: LiveLinks;
	private readonly execution: Execution;
	private readonly fields: PlanFields;
	readonly planned: RecordUndo[];
	private readonly outcomes = new Map<RecordUndo, RecordUndo>();
	/** The records as the service returned them when they were written. */
	private readonly writtenRecords = new Map<RecordUndo, IDataObject>();

	constructor(execution: Execution, fields: PlanFields, links: LiveLinks, planned: RecordUndo[]) {
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
		const batch = this.fields.descriptions.get(collection)?.delete?.batch;
		return undos.filter(({ history }) => history.collection === collection).slice(0, batch?.takesVersion ? batch.maximum : 1);
	}

	/**
	 * Writes records, and writes them again if the service refuses or alters some of their values.
	 *
	 * @param isLastAttempt whether unique values that other records hold are left out, as they will not become free
	 */
	async write(undos: RecordUndo[], isLastAttempt = false): Promise<void> {
		let attempts = undos.map((undo) => ({ undo, attempt: resolveLinks(undo, this.links, this.fields) }));
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
		const { answers, error } = await sendUndoWrites(this.execution, this.fields.descriptions, writes.map(({ write }) => write));
		for (const [i, answer] of answers.entries()) {
			const { undo, attempt } = writes[i]!;
			const outcome = afterWrite(attempt, answer);
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
			const [resolved, outcome, current] = [resolveLinks(undo, this.links, this.fields), this.outcomeOf(undo), this.writtenRecords.get(undo)];
			const writtenValue = (name: string) => outcome.changes.find(({ field, kept }) => field === name && !kept)?.to;
			const missingChanges = resolved.changes.filter(({ field, to }) => !hasSameValue(to, writtenValue(field)));
			if (!current || outcome.newId === undefined || outcome.result === 'already_so' || missingChanges.length === 0) continue;
			const changes = missingChanges.map((change) => ({ ...change, from: current[change.field] }));
			const write = writeFor({ ...resolved, action: 'update', current, changes })!;
			const { answers: [answer], error } = await sendUndoWrites(this.execution, this.fields.descriptions, [write]);
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
