import type { IDataObject } from 'n8n-workflow';

import { deletionHash } from '../api/http/idempotency';
import { recordName } from '../api/record';
import { idText } from '../base/json';
import { ownMember, setMember } from '../base/ownMembers';
import { causeOf } from '../log/cause';
import { type CrmEvent, type EventMeaning, isErased } from '../log/crmEvent';
import { topLevelName } from '../log/eventFields';
import { versionNumber } from '../writing/replace';
import { addFieldChanges, type RecordHistory, recordKey, type Recreation } from './history';
import { LinksToCreated } from './linksToCreated';
import { explain, type Explanation } from './reasons';

/** What events of a type mean, and why the records that they are about cannot be undone, or whether they are ignored. */
export interface UndoableType extends EventMeaning {
	refusal: Explanation | 'ignored' | undefined;
}

/** Who has caused an event: what is to be undone, someone else, or this undo. */
type ChangedBy = 'chosen' | 'others' | 'this undo';

/** The histories of the records to undo, as far as the log was read. */
export class RecordHistories {
	readonly linksToCreated = new LinksToCreated();
	/** By record: the last changed record is the last one. */
	private readonly byRecord = new Map<string, RecordHistory>();
	/** By the record that an undo has created in place of the one to undo. */
	private readonly byRecreation = new Map<string, { history: RecordHistory; recreation: Recreation }>();
	/** By the hash in the key of such a creation. */
	private readonly byDeletion = new Map<string, RecordHistory>();

	/** The last changed record first. */
	all(): RecordHistory[] {
		return [...this.byRecord.values()].reverse();
	}

	/** Adds an event: what it has changed, and the record as it is now, whoever caused it. */
	add(event: CrmEvent, type: UndoableType, by: ChangedBy): void {
		const { collection, change } = type;
		const id = idText(event.data.object.id) ?? '';
		const key = recordKey({ collection, id });
		/** If an undo has created the record in place of a deleted one: that one's history. */
		const createdFor = change === 'created' ? this.byDeletion.get(causeOf(event).origin?.hash ?? '') : undefined;
		const isToBeUndone = by === 'chosen' && type.refusal !== 'ignored' && !accompaniesChange(event, type, this.byRecord.get(key));
		if (isToBeUndone) addChosenChange(this.placeLast(key, type, id), event, type, createdFor);
		const ownHistory = this.byRecord.get(key);
		if (change) {
			const replaced = this.byRecreation.get(key);
			const history = ownHistory ?? replaced?.history;
			if (history) this.addOutcome(history, event, change, by);
			if (ownHistory) ownHistory.current = stateAfter(event, change, [...ownHistory.fieldHistories.keys()]);
			if (replaced) {
				replaced.recreation.record = stateAfter(event, change);
				for (const name of event.data.changed) replaced.recreation.changed.add(name);
			}
		}
		if (createdFor) this.addRecreation(createdFor, { id, record: event.data.object, changed: new Set(), isToBeUndone });
		this.linksToCreated.addEvent({ key, id, isCreated: ownHistory?.isCreated === true }, event, change);
	}

	/** Adds what someone else has done, and what makes an undo of the event itself recognizable. */
	private addOutcome(history: RecordHistory, event: CrmEvent, change: EventMeaning['change'], by: ChangedBy): void {
		if (by === 'others') addFieldChanges(history, event, false);
		if (change === 'deleted' && (by === 'others' || history.deletion?.event === event.id)) {
			this.byDeletion.set(deletionHash(event.id), history);
		}
		if (causeOf(event).origin?.purpose === 'erase') history.problem ??= explain('madeAnonymous');
	}

	/** Makes the history of a record the last changed one. */
	private placeLast(key: string, { recordType, collection, template }: EventMeaning, id: string): RecordHistory {
		const history: RecordHistory = this.byRecord.get(key) ?? {
			recordType, collection, template, id,
			isCreated: false, fieldHistories: new Map(), recreations: [],
		};
		this.byRecord.delete(key);
		this.byRecord.set(key, history);
		return history;
	}

	private addRecreation(history: RecordHistory, recreation: Recreation): void {
		const key = recordKey({ collection: history.collection, id: recreation.id });
		if (this.byRecreation.has(key)) return;
		history.recreations.push(recreation);
		this.byRecreation.set(key, { history, recreation });
	}
}

/** Whether an event such as `deal.won` accompanies the one that describes the change. */
function accompaniesChange({ data }: CrmEvent, { change, refusal }: UndoableType, history: RecordHistory | undefined): boolean {
	const record = history?.current ?? history?.deletion?.record;
	return change === undefined && refusal === undefined && record !== undefined && versionNumber(record) === versionNumber(data.object);
}

/** Adds a change to undo. @param createdFor the history of the record in whose place an undo has created this one */
function addChosenChange(history: RecordHistory, event: CrmEvent, { change, refusal }: UndoableType, createdFor?: RecordHistory): void {
	const { id: eventId, type, data: { object } } = event;
	history.name = recordName(object) ?? history.name;
	if (refusal !== undefined && refusal !== 'ignored') history.problem = refusal;
	else if (isErased(event)) history.problem = explain('erasedSince');
	else if (history.id === '' || change === undefined) history.problem = explain('notUnderstood', type);
	else if (change === 'updated') addFieldChanges(history, event, true);
	else if (change === 'deleted') history.deletion = { event: eventId, record: object };
	else {
		// For a user, a record that becomes visible is reported as created, too.
		if (versionNumber(object)! > 1n) history.problem = explain('notCreated');
		// A record that was created in place of a deleted one is to be deleted only if that one was created, too.
		history.isCreated = createdFor?.deletion ? createdFor.isCreated : true;
	}
}

/** The record after an event that describes a change; undefined if it is gone. @param fields all by default */
function stateAfter({ data: { object } }: CrmEvent, change: EventMeaning['change'], fields?: string[]): IDataObject | undefined {
	if (change === 'deleted') return undefined;
	if (!fields) return object;
	const state: IDataObject = {};
	for (const name of ['id', 'version', ...fields.map(topLevelName)]) setMember(state, name, ownMember(object, name));
	return state;
}
