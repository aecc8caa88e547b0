import type { IDataObject } from 'n8n-workflow';

import { deletionHash } from '../api/http/idempotency';
import { ruleBroken } from '../api/http/rules';
import { recordName } from '../api/record';
import { idText } from '../base/json';
import { ownMember, setMember } from '../base/ownMembers';
import { causeOf } from '../log/cause';
import { type CrmEvent, type EventMeaning, isErased } from '../log/crmEvent';
import { fieldEntries, hasField, topLevelName } from './fieldValues';
import { addChangeByOthers, addUpdateToUndo, newHistory, noteChangeByOthers, type RecordHistory, type RecordUndo, type Recreation, replay } from './history';
import { possibleIdsIn, recordKey } from './links';
import { versionNumber } from '../writing/replace';

/**
 * The histories of the records to undo, built from the event log. Events are added in sequence: the events to undo, and
 * all others, which show later changes of these records.
 */
export class Histories {
	private readonly meaningOf: (type: string) => EventMeaning | undefined;
	private readonly refusal: (meaning: EventMeaning) => string | undefined;
	private readonly byRecord = new Map<string, RecordHistory>();
	/** The histories, by the record that was created again. */
	private readonly byRecreation = new Map<string, { history: RecordHistory; recreation: Recreation }>();
	private readonly byDeletion = new Map<string, RecordHistory>();
	readonly links = new LinksToCreated();

	/**
	 * @param meaningOf returns the meaning of an event type
	 * @param refusal returns why records of a type cannot be undone; empty if they are ignored
	 */
	constructor(meaningOf: Histories['meaningOf'], refusal: Histories['refusal']) {
		this.meaningOf = meaningOf;
		this.refusal = refusal;
	}

	/** Adds an event that happened before the undo. @throws Error in the user's words if it lacks what an undo needs */
	addEvent(event: CrmEvent, isToBeUndone: boolean): void {
		const { meaning, id, key } = this.subjectOf(event);
		if (meaning.change && this.refusal(meaning) === undefined) refuseIncomplete(event, meaning);
		this.links.sequenceBeforeUndo = event.sequence;
		const history = this.byRecord.get(key);
		if (isToBeUndone) this.addEventToUndo(event, meaning, id, history);
		else {
			const affectedHistory = history ?? this.byRecreation.get(key)?.history;
			if (affectedHistory && meaning.change !== undefined) addChangeByOthers(affectedHistory, event);
			if (affectedHistory && meaning.change === 'deleted') this.byDeletion.set(deletionHash(event.id), affectedHistory);
		}
		const currentHistory = this.byRecord.get(key);
		if (currentHistory) currentHistory.current = stateAfter(event, meaning, [...currentHistory.changes.keys()]);
		const changedHistory = currentHistory ?? this.byRecreation.get(key)?.history;
		if (changedHistory && causeOf(event).origin?.purpose === 'erase') changedHistory.problem ??= madeAnonymous;
		this.follow(event);
	}

	/**
	 * Adds an event that may have happened during the undo. It may have created a record again, changed such a record or
	 * one to delete, or linked to one to delete.
	 *
	 * @param isByOthers whether neither this undo nor the changes to undo have caused the event
	 * @returns whether the event may prevent the deletion of a record
	 */
	addLaterEvent(event: CrmEvent, isByOthers: boolean): boolean {
		const { meaning, key } = this.subjectOf(event);
		const history = this.byRecord.get(key);
		const isChangeOfCreated = meaning.change === 'updated' && isByOthers && history?.isCreated === true;
		if (isChangeOfCreated) noteChangeByOthers(history, event);
		const linksToCreated = this.follow(event);
		return linksToCreated || isChangeOfCreated;
	}

	/** Follows the records that were created again, and the links to created ones. @returns whether the record of the event has such a link */
	private follow(event: CrmEvent): boolean {
		const { meaning, id, key } = this.subjectOf(event);
		const { recreation } = this.byRecreation.get(key) ?? {};
		if (recreation) {
			recreation.record = stateAfter(event, meaning);
			recreation.isChanged ||= meaning.change === 'updated';
		}
		if (meaning.change === 'created') this.noteRecreation(event, id, false);
		return this.links.addEvent(key, event, meaning);
	}

	/** The histories of all records to undo, the last changed record first. */
	newestFirst(): RecordHistory[] {
		const histories = [...this.byRecord.values()].sort((a, b) => b.sequence - a.sequence);
		for (const history of histories) history.fields = new Map([...history.changes].map(([name, changes]) => [name, replay(changes)]));
		return histories;
	}

	/** The record that an event is about, and what happened to it. */
	private subjectOf({ type, data: { object } }: CrmEvent): { meaning: EventMeaning; id: string; key: string } {
		const meaning = this.meaningOf(type) ?? unknownMeaning(type);
		const id = idText(object.id) ?? '';
		return { meaning, id, key: recordKey({ collection: meaning.collection, id }) };
	}

	private addEventToUndo(event: CrmEvent, meaning: EventMeaning, id: string, existingHistory: RecordHistory | undefined): void {
		const { object } = event.data;
		const refusal = this.refusal(meaning);
		if (refusal === '') return;
		// An event such as deal.won accompanies the one that describes the change.
		if (meaning.change === undefined && existingHistory && refusal === undefined && versionIn(event) === existingHistory.version) return;
		const replacedHistory = meaning.change === 'created' ? this.noteRecreation(event, id, true) : undefined;
		const history = existingHistory ?? newHistory(meaning, id);
		this.byRecord.set(recordKey(history), history);
		const name = recordName(object);
		if (name !== undefined) history.name = name;
		history.version = versionIn(event);
		history.sequence = event.sequence;

		if (refusal !== undefined) history.problem = refusal;
		else if (isErased(event)) history.problem = erasedSince;
		else if (id === '' || meaning.change === undefined) history.problem = notUnderstood(event.type);
		else if (meaning.change === 'created') this.addCreation(history, event, replacedHistory);
		else if (meaning.change === 'updated') addUpdateToUndo(history, event);
		else this.addDeletion(history, event);
	}

	/** @param replacedHistory the history of the record in whose place this one was created, if there is one */
	private addCreation(history: RecordHistory, event: CrmEvent, replacedHistory: RecordHistory | undefined): void {
		// For a user, a record that becomes visible is reported as created, too.
		if (versionIn(event) > 1n) history.problem = notCreated;
		history.isCreated = replacedHistory?.deletion ? replacedHistory.isCreated : true;
		if (history.isCreated) this.links.addCreated(history.id);
	}

	private addDeletion(history: RecordHistory, event: CrmEvent): void {
		history.deletion = { event: event.id, record: event.data.object };
		this.byDeletion.set(deletionHash(event.id), history);
	}

	/** Notes a record that an undo has created, once. @returns the history of the record in whose place it was created */
	private noteRecreation(event: CrmEvent, id: string, isToBeUndone: boolean): RecordHistory | undefined {
		const hash = causeOf(event).origin?.hash ?? '';
		const history = this.byDeletion.get(hash);
		const key = history && recordKey({ collection: history.collection, id });
		if (!key || this.byRecreation.has(key)) return history;
		const recreation = { id, record: event.data.object, isToBeUndone, isChanged: false };
		history.recreations.push(recreation);
		this.byRecreation.set(key, { history, recreation });
		return history;
	}
}

/** The version of the record of an event; none if its values were erased, or if it is no record to undo. */
const versionIn = ({ data: { object } }: CrmEvent): bigint => versionNumber(object) ?? 0n;

/** The record after an event; undefined if it is gone. @param fields all by default */
function stateAfter({ data: { object } }: CrmEvent, { change }: EventMeaning, fields?: string[]): IDataObject | undefined {
	if (change === 'deleted') return undefined;
	if (!fields) return object;
	const state: IDataObject = {};
	for (const name of ['id', 'version', ...fields.map(topLevelName)]) setMember(state, name, ownMember(object, name));
	return state;
}

/** @throws Error in the user's words if an event of a record lacks the version, the previous values or the cause */
function refuseIncomplete(event: CrmEvent, { change }: EventMeaning): void {
	const { type, sequence, data: { object, previous, changed } } = event;
	if (isErased(event)) return;
	const refuse = (rule: number, problem: string) => {
		throw ruleBroken(rule, `Event ${sequence} of the log (${type})`, `${problem} Nothing was written.`);
	};
	if (versionNumber(object) === undefined) refuse(12, 'The record in it has no version.');
	const hasValues = previous !== null && changed.length > 0 && changed.every((name) => hasField(previous, name));
	if (change === 'updated' && !hasValues) refuse(15, 'It does not have the previous values of the changed fields.');
	if (!causeOf(event).isReported) refuse(15, 'It does not say which request caused it.');
}

const unknownMeaning = (type: string): EventMeaning => ({ recordType: type, collection: type, template: type });

const notCreated =
	'The CRM reports it as created, but it existed before, and only became visible to this credential. Undo it with a credential that sees all records.';
const erasedSince = 'The record was deleted permanently, and its values with it.';
const madeAnonymous = 'An erasure of a person has made this record anonymous. Its earlier texts may name the person.';
const notUnderstood = (type: string) => `The CRM reports ${type}, which the node does not understand.`;

/** The links to created records. Deleting a record would break the links that remain when the undo is done. */
class LinksToCreated {
	/** The last event that was read before the undo began. Later events contain the values that the undo writes. */
	sequenceBeforeUndo = 0;
	private readonly createdIds = new Set<string>();
	/** The created records that each record links to after its last event, by field. */
	private readonly linksByRecord = new Map<string, { sequence: number; byField: Map<string, string[]> }>();

	/** Adds a record that may be deleted. */
	addCreated(id: string): void {
		this.createdIds.add(id);
	}

	/**
	 * Updates the links of the record of an event, whoever caused it.
	 *
	 * @returns whether the record links to a created one
	 */
	addEvent(record: string, { sequence, data: { object } }: CrmEvent, { change }: Pick<EventMeaning, 'change'>): boolean {
		if (this.createdIds.size === 0) return false;
		const byField = new Map<string, string[]>();
		for (const [name, value] of change === 'deleted' ? [] : fieldEntries(object)) {
			// A version may be the same number as an id.
			const ids = name === 'id' || name === 'version' ? [] : this.createdIdsIn(value);
			if (ids.length > 0) byField.set(name, ids);
		}
		if (byField.size > 0) this.linksByRecord.set(record, { sequence, byField });
		else this.linksByRecord.delete(record);
		return byField.size > 0;
	}

	/**
	 * The ids of the created records that other records link to when the undo is done.
	 *
	 * @param isWrittenOnly whether only the links count that the undo itself writes
	 * @param isWritten whether the previous values of a record are written, or will be before anything is deleted
	 */
	linkedAfterUndo(undos: RecordUndo[], isWrittenOnly: boolean, isWritten: (undo: RecordUndo) => boolean = () => true): ReadonlySet<string> {
		const linkedIds = new Set<string>();
		if (this.createdIds.size === 0) return linkedIds;
		const addLinks = (value: unknown) => {
			for (const id of this.createdIdsIn(value)) linkedIds.add(id);
		};
		const undoByRecord = new Map(undos.map((undo) => [recordKey(undo.history), undo]));
		for (const [record, { sequence, byField }] of isWrittenOnly ? [] : this.linksByRecord) {
			const undo = undoByRecord.get(record);
			if (undo?.action === 'delete') continue;
			const isRestored = undo?.action === 'update' && sequence <= this.sequenceBeforeUndo && isWritten(undo);
			for (const [name, ids] of byField) if (!isRestored || !isRestoredField(undo, name)) addLinks(ids);
		}
		for (const { action, changes, history } of undos) {
			if (action !== 'update' && action !== 'create') continue;
			for (const { to, kept } of changes) if (!kept) addLinks(to);
			// Fields that the service derives from a written field get their previous values, too.
			for (const { before, isChangedByOthers } of history.fields.values()) if (!isChangedByOthers) addLinks(before);
		}
		return linkedIds;
	}

	/** The records to delete first: those that no other of them links to, or all if they link to each other in a circle. */
	deletableFirst(undos: RecordUndo[]): RecordUndo[] {
		const linkedIdsOf = ({ history }: RecordUndo) =>
			[...(this.linksByRecord.get(recordKey(history))?.byField.values() ?? [])].flat().filter((id) => id !== history.id);
		const linkedIds = new Set(undos.flatMap(linkedIdsOf));
		const unlinked = undos.filter(({ history: { id } }) => !linkedIds.has(id));
		return unlinked.length > 0 ? unlinked : undos;
	}

	/** The ids of created records in a value. */
	private createdIdsIn(value: unknown): string[] {
		return possibleIdsIn(value).filter((id) => this.createdIds.has(id));
	}
}

/** Whether a field gets its previous value: the undo writes it, or the service derives it from a written field. */
const isRestoredField = ({ changes, history }: RecordUndo, name: string): boolean =>
	history.fields.has(name) && !changes.some(({ field, kept }) => field === name && kept);
