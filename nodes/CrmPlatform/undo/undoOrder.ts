import type { IDataObject } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';

import type { Execution, MayContinue } from '../model';
import { eventName, fieldValue, hasField, hasSameValue, setField } from './fieldValues';
import type { LiveLinks } from './links';
import type { LoggedChanges } from './loggedChanges';
import { allKept, type RecordUndo } from './history';
import type { FieldsByCollection, UndoFields } from './undoFields';
import type { UndoChoices } from './undoForm';
import { createdTwice, keptAsChanged, keptAsLinked, withLinkedRecordsKept } from './undoPlan';
import { isAnsweredWith, isNotFound, isWebPage } from '../api/record';
import type { Reason } from '../api/http/errorWords';
import { refusedRecord } from '../api/http/statuses';
import { idText } from '../base/json';
import { getOrCreate } from '../base/maps';
import { pointerSteps } from '../base/ownMembers';
import { changedSinceRead, type ChangeWrite, writeChanges } from '../changes/apply';
import type { Change } from '../changes/merge';
import { allCustomFields, customFieldPrefix } from '../fields/field';

/** A plan, and what carrying it out needs. */
interface Undoing {
	execution: Execution;
	choices: UndoChoices;
	logged: LoggedChanges;
	fields: FieldsByCollection;
	links: LiveLinks;
	planned: RecordUndo[];
}

/**
 * Carries out a plan. Its writes depend on each other: a value that must be unique becomes free when the record that
 * has it is undone, a created record can be deleted when nothing links to it any more, and a record can be linked to
 * when it was created again. So all that can be written is written, until nothing more can be; then something is
 * written without what it waits for. The log shows what others do meanwhile.
 *
 * @returns the outcome of each planned undo
 * @throws NodeApiError if the service stops answering; the next undo continues
 */
export const carryOut = async (undoing: Undoing): Promise<RecordUndo[]> => await new UndoOrder(undoing).run();

class UndoOrder {
	private readonly undoing: Undoing;
	/** The writes that are not yet done: not tried, or refused because another record still has a unique value. */
	private open: RecordUndo[];
	private readonly outcomes = new Map<RecordUndo, RecordUndo>();
	/** The records that were written without a value or a link, as the service returned them; undefined if it has not. */
	private readonly incomplete = new Map<RecordUndo, IDataObject | undefined>();

	constructor(undoing: Undoing) {
		this.undoing = undoing;
		this.open = undoing.planned.filter(({ action }) => action);
	}

	async run(): Promise<RecordUndo[]> {
		const { links, logged } = this.undoing;
		do {
			for (let before = Infinity; this.open.length < before; ) {
				before = this.open.length;
				await this.write(this.openTo('update').filter((undo) => !links.waitsForCreation(undo)));
				await this.deleteUnlinked();
				await this.write(this.openTo('create').filter((undo) => !links.waitsForCreation(undo)));
			}
		} while (await this.writeIncomplete());
		await this.complete();
		for (const undo of this.openTo('delete')) this.outcomes.set(undo, keptAsLinked(undo));
		await logged.catchUp();
		return this.allOutcomes().map(besideCopy);
	}

	private openTo(action: RecordUndo['action']): RecordUndo[] {
		return this.open.filter((undo) => undo.action === action);
	}

	/** Whether an undo was not tried, or was refused because another record has a unique value, which may become free. */
	private readonly isOpen = (undo: RecordUndo): boolean => !this.outcomes.has(undo) || this.outcomes.get(undo)!.isDuplicate === true;

	/** The outcome of a planned undo; before it has one, the plan itself. */
	private readonly outcomeOf = (undo: RecordUndo): RecordUndo => this.outcomes.get(undo) ?? undo;

	private allOutcomes(): RecordUndo[] {
		return this.undoing.planned.map(this.outcomeOf);
	}

	/**
	 * Writes something without what it waits for: a record that links to one that could not be created, or to another one
	 * in a circle, without its link; a record whose unique value a record to delete still has, which may be linked from those
	 * that wait for this one, without the value; and updates without the values that other records keep.
	 *
	 * @returns whether there was something to write
	 */
	private async writeIncomplete(): Promise<boolean> {
		const { links } = this.undoing;
		const creations = this.openTo('create');
		const untried = creations.filter((undo) => !this.outcomes.has(undo));
		const waiting = untried.filter((undo) => links.waitsForCreation(undo));
		const free = waiting.filter((undo) => !links.waitsForCreation(undo, untried));
		const circular = free.length > 0 ? free : waiting.slice(0, 1);
		const deletedIds = new Set(this.openTo('delete').map(({ history }) => history.id));
		const beside = circular.length > 0 ? [] : creations.filter((undo) => deletedIds.has(this.outcomeOf(undo).holder ?? ''));
		const incomplete = [...circular, ...beside];
		const undos = incomplete.length > 0 ? incomplete : this.openTo('update');
		// The record that an update links to may only wait for the value that this update gives back.
		const withoutLink = undos.filter((undo) => links.waitsForCreation(undo));
		for (const undo of incomplete.length > 0 ? incomplete : withoutLink) this.incomplete.set(undo, undefined);
		await this.write(undos, true);
		return undos.length > 0;
	}

	/** Deletes the created records that no remaining record links to, dependents first. */
	private async deleteUnlinked(): Promise<void> {
		if (this.openTo('delete').length > 0) await this.undoing.logged.catchUp();
		for (let wave = this.deletableNow(); wave.length > 0; wave = this.deletableNow()) await this.deleteWave(wave);
	}

	/** The next records to delete. Those that others have changed meanwhile are kept. */
	private deletableNow(): RecordUndo[] {
		const { choices: { takesPrecedence }, logged: { links } } = this.undoing;
		for (const undo of takesPrecedence ? [] : this.openTo('delete')) {
			if (undo.history.changedByOthers.size > 0) this.outcomes.set(undo, keptAsChanged(undo));
		}
		this.open = this.open.filter(this.isOpen);
		const deletions = this.openTo('delete');
		if (deletions.length === 0) return [];
		const linkedAfterUndo = (undos: RecordUndo[]) => links.linkedAfterUndo(undos, takesPrecedence, (undo) => this.outcomes.has(undo));
		const unlinked = new Set(withLinkedRecordsKept(this.allOutcomes(), linkedAfterUndo));
		return links.deletableFirst(deletions.filter((undo) => unlinked.has(undo)));
	}

	/** Deletes records, as many as one request takes, until one is refused, or until the log shows that others may have linked to one. */
	private async deleteWave(wave: RecordUndo[]): Promise<void> {
		for (let isAsPlanned = true, remaining = wave; isAsPlanned && remaining.length > 0; ) {
			const { collection } = remaining[0]!.history;
			const batch = this.undoing.fields.get(collection)?.description?.delete?.batch;
			const request = remaining.filter(({ history }) => history.collection === collection).slice(0, batch?.takesVersion ? batch.maximum : 1);
			await this.write(request);
			remaining = remaining.filter(this.isOpen);
			const isRefused = request.some((undo) => !this.outcomeOf(undo).action);
			isAsPlanned = this.openTo('delete').length > 0 && !(await this.undoing.logged.catchUp()) && !isRefused;
		}
	}

	/**
	 * Writes records, and writes them again without the values that the service refuses.
	 *
	 * @param isLastAttempt whether unique values that other records hold are left out, as they will not become free
	 */
	private async write(undos: RecordUndo[], isLastAttempt = false): Promise<void> {
		const { fields, links } = this.undoing;
		let attempts = undos.map((undo) => ({ undo, attempt: links.resolve(undo) }));
		// The loop ends: each repetition leaves out a value.
		while (attempts.length > 0) {
			for (const { undo, attempt } of attempts) if (!attempt.action) this.outcomes.set(undo, attempt);
			const writes = attempts.filter(({ attempt }) => attempt.action);
			for await (const { index, outcome: answer } of this.send(writes.map(({ attempt }) => attempt))) {
				const { undo, attempt } = writes[index]!;
				const outcome = afterWrite(attempt, answer, fields.get(attempt.history.collection)!);
				this.outcomes.set(undo, outcome);
				if (this.incomplete.has(undo) && !(answer instanceof Error)) this.incomplete.set(undo, answer);
				if (outcome.newId !== undefined) links.replaceId(outcome.history, outcome.newId);
			}
			attempts = attempts.flatMap(({ undo }) => {
				const { nextAttempt, isDuplicate } = this.outcomeOf(undo);
				return nextAttempt && (isLastAttempt || !isDuplicate) ? [{ undo, attempt: nextAttempt }] : [];
			});
		}
		this.open = this.open.filter((undo) => this.isOpen(undo) && !(isLastAttempt && undos.includes(undo)));
	}

	/** Writes the values that are missing in written records: links to records that were created later, and values that have become free. */
	private async complete(): Promise<void> {
		for (const [undo, written] of this.incomplete) {
			const [resolved, outcome, current] = [this.undoing.links.resolve(undo), this.outcomeOf(undo), written ?? undo.current];
			const writtenValue = (name: string) => outcome.changes.find(({ field, kept }) => field === name && !kept)?.to;
			const missingChanges = resolved.changes.filter(({ field, to, kept }) => !kept && !hasSameValue(to, writtenValue(field)));
			if (!current || missingChanges.length === 0) continue;
			const changes = missingChanges.map((change) => ({ ...change, from: fieldValue(current, change.field) }));
			for await (const { outcome: answer } of this.send([{ ...resolved, action: 'update', current, changes }])) {
				if (!(answer instanceof Error)) this.outcomes.set(undo, { ...resolved, ...(outcome.newId !== undefined && { newId: outcome.newId }) });
			}
		}
	}

	/**
	 * Sends writes as every operation does: in batches, under idempotency keys and versions. A creation is sent alone, under
	 * a key that names the deletion, so that the log shows which record was created for which.
	 *
	 * @returns the record as the service returned it, or its refusal, for each undo
	 * @throws Error that does not concern just one record
	 */
	private async *send(undos: RecordUndo[]): AsyncGenerator<{ index: number; outcome: IDataObject | Error }, void> {
		const { execution, fields } = this.undoing;
		const signal = execution.n8n.getExecutionCancelSignal();
		const mayContinue: MayContinue = (results) => !signal?.aborted && !results.some((result) => result instanceof Error && !isRefusal(result));
		const groups = new Map<string, number[]>();
		for (const [index, { action, history }] of undos.entries()) getOrCreate(groups, `${action} ${history.collection}`, () => []).push(index);
		for (const group of groups.values()) {
			const { action, history: { collection } } = undos[group[0]!]!;
			const typeFields = fields.get(collection);
			const description = typeFields?.description?.[action!];
			if (!description || description.refusal !== undefined) {
				const outcome = new Error(description?.refusal ?? `The CRM’s API cannot ${action} records of ${collection}. Undo this change by hand.`);
				for (const index of group) yield { index, outcome };
				continue;
			}
			const writes = group.map((index) => writeFor(undos[index]!));
			// A repeated undo makes another plan, and must not repeat the keys of an earlier one.
			const run = randomUUID();
			for await (const { index, outcome } of writeChanges(execution, description, { collection: `/v1${collection}`, writes, run }, mayContinue)) {
				if (outcome instanceof Error && !isRefusal(outcome)) throw this.stopped(outcome);
				yield { index: group[index]!, outcome };
			}
			if (signal?.aborted) throw this.stopped(new Error('The execution was canceled'));
		}
	}

	private stopped(error: Error): Error {
		const writtenCount = [...this.outcomes.values()].filter(({ action }) => action).length;
		const plannedCount = this.undoing.planned.filter(({ action }) => action).length;
		this.undoing.execution.api.notices.add(
			`The undo stopped. About ${writtenCount} of ${plannedCount} records were written. Run it again: it continues with the rest.`,
		);
		return error;
	}
}

/** Reports that another undo has created the same record at the same time. */
function besideCopy(undo: RecordUndo): RecordUndo {
	const copy = undo.action === 'create' && undo.newId !== undefined && undo.history.recreations.find(({ id }) => id !== undo.newId);
	return copy ? { ...undo, result: 'conflict', reason: createdTwice(copy.id) } : undo;
}

function writeFor({ action, current, changes, history: { deletion } }: RecordUndo): ChangeWrite {
	if (action === 'delete') return { record: current! };
	const patch: IDataObject = {};
	for (const { field, to, kept } of changes) if (!kept) setField(patch, field, to ?? null);
	return action === 'create' ? { patch, deletion: deletion!.event } : { patch, record: current! };
}

/** Whether an error concerns just one record, so that the next write may succeed. */
const isRefusal = (error: Error): boolean => isAnsweredWith(error, ...refusedRecord) && !isWebPage(error);

/** Returns the outcome of an undo, according to the service's answer to its write. */
export function afterWrite(undo: RecordUndo, answer: IDataObject | Error, fields: UndoFields): RecordUndo {
	if (answer instanceof Error) return afterRefusal(undo, answer, fields);
	if (undo.action === 'update') return afterUpdate(undo, answer, fields);
	const newId = undo.action === 'create' ? idText(answer.id) : undefined;
	return newId === undefined ? undo : { ...undo, newId };
}

function afterRefusal(undo: RecordUndo, refused: Error, fields: UndoFields): RecordUndo {
	const { action, ...rest } = { ...undo, changes: allKept(undo.changes) };
	if (isNotFound(refused) && action === 'delete') {
		return { ...rest, result: 'already_so', reason: 'The record is gone, or no longer visible to the credential.' };
	}
	const reason = changedSinceRead(refused);
	if (reason !== undefined) return { ...rest, result: 'conflict', reason };
	const { code, existing_id: existingId } = refusalDetails(refused);
	const holder = idText(existingId);
	const isDuplicate = code === 'duplicate';
	const nextAttempt = withoutRefusedValues(undo, refused, fields);
	return {
		...rest,
		...(isDuplicate && { isDuplicate: true as const, ...(holder !== undefined && { holder }) }),
		...(nextAttempt && { nextAttempt }),
		result: 'cannot_be_undone',
		reason: isDuplicate && action === 'update' ? duplicateValue : ['The CRM refused it:', ...textsOfRefusal(refused)].join(' '),
	};
}

/** Reports the fields in which the service has stored other values than those that it was sent. */
function afterUpdate(undo: RecordUndo, record: IDataObject, { compare }: UndoFields): RecordUndo {
	const isDifferent = ({ field, to, kept }: Change) => !kept && hasField(record, field) && !compare.covers(field, fieldValue(record, field), to);
	const differing = undo.changes.filter(isDifferent);
	if (differing.length === 0) return undo;
	const changes = undo.changes.map((change): Change => (differing.includes(change) ? { ...change, kept: true } : change));
	const message = `The CRM stored other values than the previous ones in ${differing.map(({ field }) => field).join(', ')}. Check the record.`;
	return { ...undo, changes, reason: [undo.reason, message].filter(Boolean).join(' '), result: 'cannot_be_undone' };
}

/** Removes the values that the service refused by name from an undo; undefined if it named none, or if nothing is left. */
function withoutRefusedValues(undo: RecordUndo, refused: Error, fields: UndoFields): RecordUndo | undefined {
	const { errors } = refusalDetails(refused);
	const reasons = Array.isArray(errors) ? (errors as Reason[]) : [];
	const namedFields = new Set(reasons.flatMap(({ pointer }) => (pointer === undefined ? [] : [fieldNameIn(pointer)])));
	// Without its place, such as its stage, the service would put the record elsewhere.
	if (undo.action === 'create' && [...namedFields].some((name) => fields.isPlacement(name))) return undefined;
	const refusedFields = fields.withDependents(namedFields);
	const isRefused = ({ field, kept }: Change) => !kept && refusedFields.has(eventName(field));
	const omittedFields = new Set(undo.changes.filter(isRefused).map(({ field }) => eventName(field)));
	const changes = undo.changes.map((change): Change => (isRefused(change) ? { ...change, kept: true } : change));
	if (omittedFields.size === 0 || changes.every(({ kept }) => kept)) return undefined;
	const message = `The CRM refused ${[...omittedFields].join(', ')}; the other values were restored.`;
	const reason = [undo.reason, message, ...textsOfRefusal(refused)].filter(Boolean).join(' ');
	return { ...undo, changes, reason, result: 'cannot_be_undone' };
}

/** The name of the field in a pointer (RFC 6901), as events name it. */
function fieldNameIn(pointer: string): string {
	const [first = '', second] = pointerSteps(pointer.replace(/^#?\/?items\/\d+(?=\/)/, ''));
	return first === allCustomFields && second !== undefined ? customFieldPrefix + second : first;
}

/** The members of the problem (RFC 9457) that the service reported. */
const refusalDetails = (refused: Error): IDataObject => ((refused as { context?: IDataObject }).context?.data ?? {}) as IDataObject;

/** The service's message without advice about a form, which an undo does not have. */
function textsOfRefusal(refused: Error): string[] {
	const { message, description } = refused as { message: string; description?: string | null };
	const lines = (description ?? '').split('\n').filter((line) => line !== '' && !formAdvice.test(line));
	return [message, ...lines];
}

const formAdvice = /^(To change .* instead, use Create or Update\.|Correct th(e|at) .*)$/;
const duplicateValue = 'Another record now has one of the previous values, which must be unique.';
