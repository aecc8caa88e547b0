import type { IDataObject } from 'n8n-workflow';

import { recordName } from '../api/record';
import { ownMember, setMember } from '../base/ownMembers';
import { type EventMeaning, isErased } from '../log/crmEvent';
import { fieldValue, topLevelName } from '../log/eventFields';
import { versionNumber } from '../writing/versions';
import { fieldAfter, type FieldHistory } from './fieldHistory';
import type { LoggedEvent } from './loggedEvent';
import { explain, type Explanation } from './reasons';
import { type Substitutes, withSubstitutes } from './recreations';

/** A record that an undo has created in place of a deleted one. */
interface Recreation {
	id: string;
	/** The fields that have changed since. */
	changed: Set<string>;
	/** The record after its last event, whoever caused it; absent if it was deleted. */
	record?: IDataObject | undefined;
	/** Whether its creation is to be undone, too. */
	isToUndo: boolean;
}

export interface RecordHistory extends Pick<LoggedEvent, 'id' | 'key'>, Pick<EventMeaning, 'kind' | 'collection' | 'template'> {
	name?: string | undefined;
	/** Whether its creation is to be undone. */
	isCreated: boolean;
	/**
	 * The fields that the changes to undo have changed, by the names that events give them; of a created record, also those
	 * that others have changed since.
	 */
	fieldHistories: Map<string, FieldHistory>;
	deletion?: { event: string; record: IDataObject };
	/** The records that undos have created in its place, the earliest first. */
	recreations: Recreation[];
	/** The record after its last event, whoever caused it: at least its version and these fields. Absent if it was deleted. */
	current?: IDataObject | undefined;
	/** Why it cannot be undone. */
	problem?: Explanation;
}

export type LivingRecreation = Recreation & { record: IDataObject };

/** The existing record that an undo, whoever ran it, has created in place of a deleted one. */
export const livingRecreation = ({ recreations }: RecordHistory) =>
	recreations.find((recreation): recreation is LivingRecreation => recreation.record !== undefined);

/** The histories of the records to undo, as far as the log was read. */
export class RecordHistories {
	/** By record: the last changed record is the last one. */
	private readonly byRecord = new Map<string, RecordHistory>();
	/** By the record that an undo has created in place of the one to undo. */
	private readonly byRecreation = new Map<string, { history: RecordHistory; recreation: Recreation }>();

	/**
	 * Adds an event: what it has changed, and the record as it is now, whoever caused it.
	 *
	 * @param replacedKey the key of the deleted record in place of which an undo has created this one, if so
	 * @param originalIds in place of those of records that undos have created: a link to such a record is the same link
	 * @returns the history of its record, if that is one to undo
	 */
	add(logged: LoggedEvent, replacedKey: string | undefined, originalIds: Substitutes): RecordHistory | undefined {
		const { event, meaning: { change, isIgnored }, cause, id, key, by } = logged;
		const replaced = replacedKey === undefined ? undefined : this.byRecord.get(replacedKey) ?? this.byRecreation.get(replacedKey)?.history;
		const isToUndo = by === 'changes to undo' && !isIgnored && !accompaniesChange(logged, this.byRecord.get(key));
		if (isToUndo) addChangeToUndo(this.placeLast(logged), logged, originalIds, replaced);

		const history = this.byRecord.get(key);
		if (!change) return history;
		const recreated = this.byRecreation.get(key);
		const concerned = history ?? recreated?.history;
		if (concerned && by === 'others') addFieldChanges(concerned, logged, originalIds);
		if (concerned && cause.origin?.purpose === 'erase') concerned.problem ??= explain('madeAnonymous');
		if (history) history.current = change === 'deleted' ? undefined : namedFields(event.data.object, history.fieldHistories.keys());
		if (recreated) {
			recreated.recreation.record = change === 'deleted' ? undefined : event.data.object;
			for (const name of event.data.changed) recreated.recreation.changed.add(name);
		} else if (replaced) {
			const recreation: Recreation = { id, record: event.data.object, changed: new Set(), isToUndo };
			replaced.recreations.push(recreation);
			this.byRecreation.set(key, { history: replaced, recreation });
		}
		return history;
	}

	/** Makes the history of a record the last changed one. */
	private placeLast({ meaning: { kind, collection, template }, key, id }: LoggedEvent): RecordHistory {
		const history: RecordHistory = this.byRecord.get(key) ?? {
			kind, collection, template, id, key, isCreated: false, fieldHistories: new Map(), recreations: [],
		};
		this.byRecord.delete(key);
		this.byRecord.set(key, history);
		return history;
	}

	/** The last changed record first. */
	all(): RecordHistory[] {
		return [...this.byRecord.values()].reverse();
	}
}

/** Whether an event such as `deal.won` accompanies the one that describes the change. */
function accompaniesChange({ event: { data }, meaning: { change, problem } }: LoggedEvent, history: RecordHistory | undefined): boolean {
	const record = history?.current ?? history?.deletion?.record;
	return change === undefined && problem === undefined && record !== undefined && versionNumber(record) === versionNumber(data.object);
}

/** @param replaced the history of the deleted record in place of which an undo has created this one */
function addChangeToUndo(history: RecordHistory, logged: LoggedEvent, originalIds: Substitutes, replaced: RecordHistory | undefined): void {
	const { event, meaning: { change, problem } } = logged;
	const { object } = event.data;
	history.name = recordName(object) ?? history.name;
	if (problem) history.problem = problem;
	else if (isErased(event)) history.problem = explain('erasedSince');
	else if (history.id === '' || change === undefined) history.problem = explain('notUnderstood', event.type);
	else if (change === 'updated') addFieldChanges(history, logged, originalIds);
	else if (change === 'deleted') history.deletion = { event: event.id, record: object };
	else {
		// For a user, a record that becomes visible is reported as created, too.
		if (versionNumber(object)! > 1n) history.problem = explain('notCreated');
		// A record that was created in place of a deleted one is to be deleted only if that one was created, too.
		history.isCreated = replaced?.deletion ? replaced.isCreated : true;
	}
}

/** Adds to the history of a record what an event has done to its fields. Only what follows a change to undo counts. */
function addFieldChanges({ fieldHistories, isCreated }: RecordHistory, { event, fields, cause, by }: LoggedEvent, originalIds: Substitutes): void {
	const { sequence, data: { object, previous, changed } } = event;
	const [isToUndo, isUndo] = [by === 'changes to undo', cause.origin?.purpose === 'undo'];
	for (const name of changed) {
		const link = fields?.linkField(name);
		const [before, after] = [previous ?? {}, object].map((values) => withSubstitutes(originalIds, link, fieldValue(values, name)));
		// The creation of a record gave its fields their first values.
		const creation = { isToUndo: true, isUndo: false, sequence: 0, before: null, after: before };
		const soFar = fieldHistories.get(name) ?? (isCreated ? fieldAfter(undefined, creation) : undefined);
		const history = fieldAfter(soFar, { isToUndo, isUndo, sequence, before, after });
		if (history) fieldHistories.set(name, history);
	}
}

/** A record with its id, its version and these fields only: an undo may have very many. */
function namedFields(record: IDataObject, names: Iterable<string>): IDataObject {
	const state: IDataObject = {};
	for (const name of ['id', 'version', ...names].map(topLevelName)) setMember(state, name, ownMember(record, name));
	return state;
}
