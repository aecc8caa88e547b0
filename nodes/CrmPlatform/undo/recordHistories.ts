import type { IDataObject } from 'n8n-workflow';

import { deletionHash } from '../api/http/idempotency';
import { recordName } from '../api/record';
import { idText } from '../base/json';
import { getOrCreate } from '../base/maps';
import { ownMember, setMember } from '../base/ownMembers';
import { causeOf } from '../log/cause';
import { type CrmEvent, type EventMeaning, isErased } from '../log/crmEvent';
import { topLevelName } from '../log/eventFields';
import { versionNumber } from '../writing/replace';
import { addChangeByOthers, fieldChange, type RecordHistory, type Recreation, replay } from './history';
import { LinksToCreated, recordKey } from './links';
import { explain, type Explanation } from './reasons';

/** What events of a type mean, and why the records that they are about cannot be undone, or whether they are ignored. */
export interface UndoableType extends EventMeaning {
	refusal: Explanation | 'ignored' | undefined;
}

/** The histories of the records to undo, as far as the log was read. */
export class RecordHistories {
	readonly links = new LinksToCreated();
	/** By record: the last changed record is the last one. */
	private readonly byRecord = new Map<string, RecordHistory>();
	/** By the record that an undo has created in place of the one to undo. */
	private readonly byRecreation = new Map<string, { history: RecordHistory; recreation: Recreation }>();
	/** By the hash in the key of such a creation. */
	private readonly byDeletion = new Map<string, RecordHistory>();

	/** The histories when all changes to undo were added, the last changed record first. */
	replayAll(): RecordHistory[] {
		const histories = [...this.byRecord.values()].reverse();
		for (const history of histories) history.fieldHistories = new Map([...history.changes].map(([name, changes]) => [name, replay(changes)]));
		return histories;
	}

	/** Adds an event: what it has changed, and the record as it is now, whoever caused it. */
	add(event: CrmEvent, type: UndoableType, by: 'chosen' | 'others' | 'this undo'): void {
		const { collection, change } = type;
		const id = idText(event.data.object.id) ?? '';
		const key = recordKey({ collection, id });
		const { origin } = causeOf(event);
		/** If an undo has created the record in place of a deleted one: that one's history. */
		const createdFor = change === 'created' ? this.byDeletion.get(origin?.hash ?? '') : undefined;
		const { history: replacedHistory, recreation } = this.byRecreation.get(key) ?? {};
		const isToBeUndone = by === 'chosen' && type.refusal !== 'ignored';
		if (isToBeUndone && !accompaniesChange(event, type, this.byRecord.get(key))) {
			addChosenChange(this.placeLast(key, type, id), event, type, createdFor);
		}
		const ownHistory = this.byRecord.get(key);
		const history = ownHistory ?? replacedHistory;
		if (history && change && by === 'others') addChangeByOthers(history, event, change);
		if (history && change === 'deleted' && (by === 'others' || history.deletion?.event === event.id)) {
			this.byDeletion.set(deletionHash(event.id), history);
		}
		if (history && origin?.purpose === 'erase') history.problem ??= explain('madeAnonymous');
		if (ownHistory && change) ownHistory.current = stateAfter(event, change, [...ownHistory.changes.keys()]);
		if (recreation && change) {
			recreation.record = stateAfter(event, change);
			for (const name of event.data.changed) recreation.changed.add(name);
		}
		if (createdFor) this.addRecreation(createdFor, { id, record: event.data.object, changed: new Set(), isToBeUndone });
		if (ownHistory?.isCreated) this.links.addCreated(id);
		this.links.addEvent(key, event, change);
	}

	/** Makes the history of a record the last changed one. */
	private placeLast(key: string, { recordType, collection, template }: EventMeaning, id: string): RecordHistory {
		const history: RecordHistory = this.byRecord.get(key) ?? {
			recordType, collection, template, id,
			isCreated: false, changes: new Map(), fieldHistories: new Map(), recreations: [], changedByOthers: new Map(),
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
	const { id: eventId, type, data: { object, changed } } = event;
	history.name = recordName(object) ?? history.name;
	if (refusal !== undefined && refusal !== 'ignored') history.problem = refusal;
	else if (isErased(event)) history.problem = explain('erasedSince');
	else if (history.id === '' || change === undefined) history.problem = explain('notUnderstood', type);
	else if (change === 'updated') {
		for (const name of changed) getOrCreate(history.changes, name, () => []).push({ ...fieldChange(event, name), isToBeUndone: true });
	} else if (change === 'deleted') history.deletion = { event: eventId, record: object };
	else {
		// For a user, a record that becomes visible is reported as created, too.
		if (versionNumber(object)! > 1n) history.problem = explain('notCreated');
		// A record that the workflow has created in place of one that it had deleted is the workflow's own if that one was.
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
