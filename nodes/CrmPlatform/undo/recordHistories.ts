import type { IDataObject } from 'n8n-workflow';

import { recordName } from '../api/record';
import { idText } from '../base/json';
import { ownMember, setMember } from '../base/ownMembers';
import type { Field } from '../fields/field';
import { causeOf } from '../log/cause';
import { type CrmEvent, type EventMeaning, isErased } from '../log/crmEvent';
import { topLevelName } from '../log/eventFields';
import { versionNumber } from '../writing/replace';
import { addFieldChanges, type OriginalValue, type RecordHistory, recordKey, type Recreation } from './history';
import { LinksToCreated } from './linksToCreated';
import { withNewIds } from './liveLinks';
import { explain, type Explanation } from './reasons';
import { Recreations } from './recreations';

/** What events of a type mean, and why the records that they are about cannot be undone, or whether they are ignored. */
export interface UndoableType extends EventMeaning {
	refusal: Explanation | 'ignored' | undefined;
}

export type ChangesFrom = 'changes to undo' | 'others' | 'this undo';

/** The histories of the records to undo, as far as the log was read. */
export class RecordHistories {
	readonly linksToCreated = new LinksToCreated();
	readonly recreations = new Recreations();
	/** By record: the last changed record is the last one. */
	private readonly byRecord = new Map<string, RecordHistory>();
	/** By the record that an undo has created in place of the one to undo. */
	private readonly byRecreation = new Map<string, { history: RecordHistory; recreation: Recreation }>();

	/** The last changed record first. */
	all(): RecordHistory[] {
		return [...this.byRecord.values()].reverse();
	}

	/**
	 * Adds an event: what it has changed, and the record as it is now, whoever caused it.
	 *
	 * @param from whether it is a change to undo, one by others, or one by this undo
	 * @param linkField finds a field of the record, if it names other records
	 */
	add(event: CrmEvent, type: UndoableType, from: ChangesFrom, linkField: (name: string) => Field | undefined): void {
		const { collection, change } = type;
		const { object, changed } = event.data;
		const { origin } = causeOf(event);
		const id = idText(object.id) ?? '';
		const key = recordKey({ collection, id });
		// The history of the deleted record in place of which an undo has created this one. A CRM may create others along with it.
		const replacedKey = change === 'created' ? this.recreations.addCreation(collection, id, origin?.hash, from === 'changes to undo') : undefined;
		const replaced = replacedKey === undefined ? undefined : this.byRecord.get(replacedKey) ?? this.byRecreation.get(replacedKey)?.history;
		// A link to a record that was created again is the same link.
		const original: OriginalValue = (name, value) => withNewIds(this.recreations.originalIds, linkField(name), value);
		const isToUndo = from === 'changes to undo' && type.refusal !== 'ignored' && !accompaniesChange(event, type, this.byRecord.get(key));
		if (isToUndo) addChangeToUndo(this.placeLast(key, type, id), event, type, original, replaced);

		const history = this.byRecord.get(key);
		this.linksToCreated.addEvent({ key, id, isCreated: history?.isCreated === true }, event, change);
		if (!change) return;
		if (change === 'deleted') this.recreations.addDeletion(collection, id, event.id);
		const recreated = this.byRecreation.get(key);
		const concerned = history ?? recreated?.history;
		if (concerned) {
			if (from === 'others') addFieldChanges(concerned, event, false, original);
			if (origin?.purpose === 'erase') concerned.problem ??= explain('madeAnonymous');
		}
		if (history) history.current = stateAfter(event, change, [...history.fieldHistories.keys()]);
		if (recreated) {
			recreated.recreation.record = stateAfter(event, change);
			for (const name of changed) recreated.recreation.changed.add(name);
		} else if (replaced) {
			const recreation: Recreation = { id, record: object, changed: new Set(), isToUndo };
			replaced.recreations.push(recreation);
			this.byRecreation.set(key, { history: replaced, recreation });
		}
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
}

/** Whether an event such as `deal.won` accompanies the one that describes the change. */
function accompaniesChange({ data }: CrmEvent, { change, refusal }: UndoableType, history: RecordHistory | undefined): boolean {
	const record = history?.current ?? history?.deletion?.record;
	return change === undefined && refusal === undefined && record !== undefined && versionNumber(record) === versionNumber(data.object);
}

/** @param replaced the history of the deleted record in place of which an undo has created this one */
function addChangeToUndo(
	history: RecordHistory, event: CrmEvent, { change, refusal }: UndoableType, original: OriginalValue, replaced?: RecordHistory,
): void {
	const { id: eventId, type, data: { object } } = event;
	history.name = recordName(object) ?? history.name;
	if (refusal !== undefined && refusal !== 'ignored') history.problem = refusal;
	else if (isErased(event)) history.problem = explain('erasedSince');
	else if (history.id === '' || change === undefined) history.problem = explain('notUnderstood', type);
	else if (change === 'updated') addFieldChanges(history, event, true, original);
	else if (change === 'deleted') history.deletion = { event: eventId, record: object };
	else {
		// For a user, a record that becomes visible is reported as created, too.
		if (versionNumber(object)! > 1n) history.problem = explain('notCreated');
		// A record that was created in place of a deleted one is to be deleted only if that one was created, too.
		history.isCreated = replaced?.deletion ? replaced.isCreated : true;
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
