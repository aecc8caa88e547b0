import type { IDataObject } from 'n8n-workflow';
import { randomUUID } from 'node:crypto';

import type { Execution, MayContinue } from '../model';
import { type LiveLinks, recordKey } from './links';
import type { LoggedChanges } from './loggedChanges';
import { allKept, type RecordUndo } from './history';
import { because, sentences } from './reasons';
import type { FieldsByCollection, UndoFields } from './undoFields';
import type { UndoChoices } from './undoForm';
import { isAnsweredWith, isNotFound, isWebPage } from '../api/record';
import type { Reason } from '../api/http/errorWords';
import { refusedRecord } from '../api/http/statuses';
import { hasSameValue, idText } from '../base/json';
import { getOrCreate } from '../base/maps';
import { pointerSteps, withoutMembers } from '../base/ownMembers';
import { changedSinceRead, type ChangeWrite, writeChanges } from '../changes/apply';
import type { Change } from '../changes/merge';
import { allCustomFields, customFieldPrefix } from '../fields/field';
import { eventName, fieldValue, hasField, setField } from '../log/eventFields';

/** A plan, and what carrying it out needs. */
interface Undoing {
	execution: Execution;
	choices: UndoChoices;
	logged: LoggedChanges;
	fields: FieldsByCollection;
	links: LiveLinks;
	planned: RecordUndo[];
}

/** A planned undo on its way to its outcome. */
interface Step {
	readonly planned: RecordUndo;
	/** What is written next: as planned, or without the values that the CRM has refused. */
	next: RecordUndo;
	/** What the output says: until the CRM has answered, the plan. */
	outcome: RecordUndo;
	isOpen: boolean;
	/** Whether the CRM has refused a value because another record has it: the value may become free. */
	isTaken: boolean;
	/** The id of that record, if the CRM reports it. */
	holder?: string | undefined;
	/** Whether it goes without the values that others have, as they will not become free. */
	isLast: boolean;
	/** Whether what it was written without is written at the end. */
	isIncomplete: boolean;
	/** The record that was written incomplete, as the CRM returned it. */
	written?: IDataObject;
}

const stepFor = (planned: RecordUndo): Step =>
	({ planned, next: planned, outcome: planned, isOpen: planned.action !== undefined, isTaken: false, isLast: false, isIncomplete: false });

const targetOf = ({ next: { history } }: Step): string => recordKey(history);

/**
 * Carries out a plan. Its writes depend on each other: a value that must be unique becomes free when the record that
 * has it is undone, a created record can be deleted when nothing links to it any more, and a record can be linked to
 * when it was created again. So whatever waits for nothing is written, round after round; when nothing is left but what
 * waits for each other, some of it is written without what it waits for. The log shows what others do meanwhile.
 */
export class UndoOrder {
	private readonly undoing: Undoing;
	private readonly steps: Step[];
	/** Whether the current round has brought a step nearer to its outcome. */
	private isProgressing = true;

	constructor(undoing: Undoing) {
		this.undoing = undoing;
		this.steps = undoing.planned.map(stepFor);
	}

	/**
	 * @returns the outcome of each planned undo
	 * @throws NodeApiError if the service stops answering; the next undo continues
	 */
	async run(): Promise<RecordUndo[]> {
		let isStopped = true;
		try {
			while (this.isProgressing) {
				this.isProgressing = false;
				await this.write(this.ready('update'));
				await this.deleteUnlinked();
				await this.write(this.ready('create'));
				if (!this.isProgressing) await this.writeIncomplete();
			}
			await this.complete();
			await this.undoing.logged.catchUp();
			isStopped = false;
		} finally {
			if (isStopped) this.undoing.execution.api.notices.add(this.howFar());
		}
		return this.steps.map(({ isOpen, outcome }): RecordUndo => {
			const { action, history, newId } = outcome;
			if (isOpen && action === 'delete') return { history, changes: [], ...because('linkedSince') };
			// Another undo may have created the same record at the same time.
			const copy = action === 'create' && newId !== undefined && history.recreations.find(({ id }) => id !== newId);
			return copy ? { ...outcome, ...because('createdTwice', copy.id) } : outcome;
		});
	}

	private howFar(): string {
		const writtenCount = this.steps.filter(({ isOpen, outcome }) => !isOpen && outcome.action).length;
		const plannedCount = this.steps.filter(({ planned }) => planned.action).length;
		return `The undo stopped. About ${writtenCount} of ${plannedCount} records were written. Run it again: it continues with the rest.`;
	}

	private open(action: RecordUndo['action']): Step[] {
		return this.steps.filter(({ isOpen, planned }) => isOpen && planned.action === action);
	}

	/** The open steps that link to no record that is yet to be created. */
	private ready(action: RecordUndo['action']): Step[] {
		const creations = new Set(this.open('create').map(targetOf));
		return this.open(action).filter(({ next }) => !this.undoing.links.waitsFor(next, creations));
	}

	/** Deletes the created records that no remaining record links to, dependents first, as many as one request takes. */
	private async deleteUnlinked(): Promise<void> {
		const { fields, logged } = this.undoing;
		let wave: Step[] = [];
		while (this.open('delete').length > 0) {
			if ((await logged.catchUp()) || wave.length === 0) wave = this.unlinked();
			const collection = wave[0]?.planned.history.collection;
			if (collection === undefined) return;
			const batch = fields.get(collection)?.description?.delete?.batch;
			const request = wave.filter(({ planned }) => planned.history.collection === collection).slice(0, batch?.takesVersion ? batch.maximum : 1);
			await this.write(request);
			// A record that the CRM does not delete may link to the others.
			const isRefused = request.some(({ outcome }) => !outcome.action);
			wave = isRefused ? [] : wave.filter(({ isOpen }) => isOpen);
		}
	}

	/** The records to delete next. Those that others have changed meanwhile are kept. */
	private unlinked(): Step[] {
		const { choices: { takesPrecedence }, logged: { links } } = this.undoing;
		for (const step of takesPrecedence ? [] : this.open('delete')) {
			const { history } = step.planned;
			if (history.changedByOthers.size > 0) this.end(step, { history, changes: [], ...because('changedSince') });
		}
		const linkedIds = links.linkedAfterUndo(this.steps.map(({ outcome }) => outcome), false);
		const unlinked = this.open('delete').filter(({ planned }) => !linkedIds.has(planned.history.id));
		const first = new Set(links.deletableFirst(unlinked.map(({ planned }) => planned)));
		return unlinked.filter(({ planned }) => first.has(planned));
	}

	/**
	 * Writes something without what it waits for: creations that link to records that the CRM refuses to create, or else one of
	 * those that link to each other in a circle, without the link; or else creations without the unique value that a record to
	 * delete still has, which may be linked from those that wait for this one; or else updates without the values that others have.
	 */
	private async writeIncomplete(): Promise<void> {
		const { links } = this.undoing;
		const creations = this.open('create');
		const untried = creations.filter(({ isTaken }) => !isTaken);
		const untriedKeys = new Set(untried.map(targetOf));
		const free = untried.filter(({ next }) => !links.waitsFor(next, untriedKeys));
		const deletedIds = new Set(this.open('delete').map(({ planned }) => planned.history.id));
		const beside = creations.filter(({ holder }) => holder !== undefined && deletedIds.has(holder));
		const waiting = [free, untried.slice(0, 1), beside].find(({ length }) => length > 0);
		const keys = new Set(creations.map(targetOf));
		const steps = waiting ?? this.open('update');
		for (const step of steps) {
			step.isLast = true;
			// The record that an update links to may only wait for the value that this update gives back.
			step.isIncomplete = waiting !== undefined || links.waitsFor(step.next, keys);
		}
		await this.write(steps);
	}

	/**
	 * Writes as every operation does: in batches, under idempotency keys and versions. A creation is sent alone, under a key
	 * that names the deletion, so that the log shows which record was created for which.
	 *
	 * @throws Error that does not concern just one record
	 */
	private async write(steps: Step[]): Promise<void> {
		const { execution, fields, links } = this.undoing;
		const signal = execution.n8n.getExecutionCancelSignal();
		const mayContinue: MayContinue = (results) => !signal?.aborted && !results.some((result) => result instanceof Error && !isRefusal(result));
		const groups = new Map<string, Step[]>();
		for (const step of steps) {
			step.next = links.resolve(step.next);
			const { action, history } = step.next;
			if (action) getOrCreate(groups, `${action} ${history.collection}`, () => []).push(step);
			else this.end(step, step.next);
		}
		for (const group of groups.values()) {
			const { action, history: { collection } } = group[0]!.next;
			const description = fields.get(collection)?.description?.[action!];
			if (!description || description.refusal !== undefined) {
				const refusal = new Error(description?.refusal ?? `The CRM’s API cannot ${action} records of ${collection}. Undo this change by hand.`);
				for (const step of group) this.settle(step, refusal);
				continue;
			}
			const writes = group.map(({ next: { changes, record, history: { deletion } } }): ChangeWrite => {
				if (action === 'delete') return { record: record! };
				const patch: IDataObject = {};
				for (const { field, to, kept } of changes) if (!kept) setField(patch, field, to ?? null);
				return action === 'create' ? { patch, deletion: deletion!.event } : { patch, record: record! };
			});
			// A repeated undo makes another plan, and must not repeat the keys of an earlier one.
			const run = randomUUID();
			const outcomes = await writeChanges(execution, description, { collection: `/v1${collection}`, writes, run }, mayContinue);
			for (const [i, outcome] of outcomes.entries()) {
				if (outcome instanceof Error && !isRefusal(outcome)) throw outcome;
				if (outcome) this.settle(group[i]!, outcome);
			}
			if (signal?.aborted) throw new Error('The execution was canceled');
		}
	}

	/** Ends a step with the CRM's answer. It stays open if a value that another record has may become free, or if other values are left to write. */
	private settle(step: Step, answer: IDataObject | Error): void {
		const { next, isLast } = step;
		const fields = this.undoing.fields.get(next.history.collection)!;
		if (!(answer instanceof Error)) {
			this.end(step, afterWrite(next, answer, fields));
			step.written = answer;
			if (step.outcome.newId !== undefined) this.undoing.links.replaceId(next.history, step.outcome.newId);
			return;
		}
		const refused = (why: ReturnType<typeof because>): RecordUndo => ({ ...withoutMembers(next, 'action'), changes: allKept(next.changes), ...why });
		const reason = changedSinceRead(answer);
		if (isNotFound(answer) && next.action === 'delete') return this.end(step, refused(because('goneMeanwhile')));
		if (reason !== undefined) return this.end(step, refused({ result: 'conflict', reason }));

		const { code, existing_id: existingId } = refusalDetails(answer);
		const isTaken = code === 'duplicate' && next.action !== 'delete';
		const outcome = refused(isTaken && next.action === 'update' ? because('valueTaken') : because('refused', sentences(...textsOfRefusal(answer))));
		if (isTaken && !isLast) return void Object.assign(step, { outcome, isTaken, holder: idText(existingId) });
		this.end(step, outcome);
		const rest = withoutRefusedValues(next, answer, fields);
		if (rest.action) [step.next, step.isOpen] = [rest, true];
	}

	private end(step: Step, outcome: RecordUndo): void {
		step.outcome = outcome;
		step.isOpen = false;
		this.isProgressing = true;
	}

	/** Writes the values that are missing in written records: links to records that were created later, and values that have become free. */
	private async complete(): Promise<void> {
		for (const step of this.steps.filter(({ isIncomplete }) => isIncomplete)) {
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
}

/** Whether an error concerns just one record, so that the next write may succeed. */
const isRefusal = (error: Error): boolean => isAnsweredWith(error, ...refusedRecord) && !isWebPage(error);

/** Returns the outcome of a write that the service has accepted. It is reported if other values are stored than those that it was sent. */
export function afterWrite(undo: RecordUndo, answer: IDataObject, { compare }: UndoFields): RecordUndo {
	const newId = undo.action === 'create' ? idText(answer.id) : undefined;
	if (newId !== undefined) return { ...undo, newId };
	const isDifferent = ({ field, to, kept }: Change) => !kept && hasField(answer, field) && !compare.covers(field, fieldValue(answer, field), to);
	const differing = undo.action === 'update' ? undo.changes.filter(isDifferent) : [];
	if (differing.length === 0) return undo;
	const changes = undo.changes.map((change): Change => (differing.includes(change) ? { ...change, kept: true } : change));
	const { result, reason } = because('storedOtherwise', differing.map(({ field }) => field).join(', '));
	return { ...undo, changes, result, reason: sentences(undo.reason, reason) };
}

/** An undo without the values that the service refused by name; without an action if it named none, or if nothing is left. */
function withoutRefusedValues(undo: RecordUndo, refused: Error, fields: UndoFields): RecordUndo {
	const { errors } = refusalDetails(refused);
	const named = (Array.isArray(errors) ? (errors as Reason[]) : []).flatMap(({ pointer }) => (pointer === undefined ? [] : [fieldNameIn(pointer)]));
	const names = fields.withDependents(named);
	const omitted = new Set(undo.changes.flatMap(({ field, kept }) => (!kept && names.has(eventName(field)) ? [eventName(field)] : [])));
	const rest = omitted.size === 0 ? withoutMembers(undo, 'action') : fields.without(undo, names);
	const { result, reason } = because('valuesRefused', [...omitted].join(', '));
	return { ...rest, result, reason: sentences(undo.reason, reason, ...textsOfRefusal(refused)) };
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
