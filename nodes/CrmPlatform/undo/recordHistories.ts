import type { IDataObject } from 'n8n-workflow';

import { subjectHash } from '../api/http/idempotency';
import type { Collection } from '../api/http/path';
import { withNewId, withReplacedIds } from '../api/openapi/linkFields';
import { recordName } from '../api/record';
import { canonicalText, hasSameValue, idText } from '../base/json';
import { getOrCreate } from '../base/maps';
import { ownMember, setMember } from '../base/ownMembers';
import type { Field } from '../fields/field';
import type { Cause } from '../log/cause';
import { type CrmEvent, type EventMeaning, isErased } from '../log/crmEvent';
import { fieldValue, topLevelName } from '../log/eventFields';
import { versionNumber } from '../writing/versions';
import { explain, type Explanation } from './reasons';
import type { UndoFields } from './undoFields';

/** Identifies a record among the records of all types. */
export const recordKey = ({ collection, id }: { collection: string; id: string }): string => `${collection}/${id}`;

export interface UndoMeaning extends EventMeaning {
	/** Whether the records that they are about are left out of the undo. */
	isIgnored: boolean;
	notUndoable?: Explanation | undefined;
}

export interface LoggedEvent {
	event: CrmEvent;
	meaning: UndoMeaning;
	cause: Cause;
	/** Of its record; empty if it has none. */
	id: string;
	/** Its `recordKey`. */
	key: string;
	/** The fields of its record, if changes of this record type are to be undone. */
	fields: UndoFields | undefined;
	by: 'changes to undo' | 'others' | 'this undo';
}

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

export interface RecordHistory extends Pick<LoggedEvent, 'id' | 'key'>, Pick<EventMeaning, 'typeName' | 'collection' | 'template'> {
	name?: string | undefined;
	/** Whether its creation is to be undone. */
	isCreated: boolean;
	/** The fields that the changes to undo have changed, named as in events; of a created record, also those that others have changed since. */
	fieldHistories: Map<string, FieldHistory>;
	/** Its deletion that is to be undone, and the fields as they were then: others may have changed the record in its place since. */
	deletion?: { event: string; record: IDataObject; fieldHistories: Map<string, FieldHistory> };
	/** The records that undos have created in its place, the earliest first. */
	recreations: Recreation[];
	/** The record after its last event, whoever caused it: at least its version and these fields. Absent if it was deleted. */
	lastLogged?: IDataObject | undefined;
	notUndoable?: Explanation;
}

/** The histories of the records to undo, as far as the log was read. */
export class RecordHistories {
	/** By record: the last changed record is the last one. */
	private readonly byRecord = new Map<string, RecordHistory>();
	readonly recreations = new Recreations();
	/** By the record that an undo has created in place of the one to undo. */
	private readonly byRecreation = new Map<string, { history: RecordHistory; recreation: Recreation }>();

	/** Adds an event, whoever caused it. @returns the history of its record, if that is one to undo */
	add(logged: LoggedEvent): RecordHistory | undefined {
		const { event, meaning: { change, isIgnored }, cause, id, key, by } = logged;
		const replacedKey = this.recreations.add(logged);
		// A link to a record that an undo has created is one to the record in whose place it is.
		const { originalIds } = this.recreations;
		const replaced = replacedKey === undefined ? undefined : this.byRecord.get(replacedKey) ?? this.byRecreation.get(replacedKey)?.history;
		const isToUndo = by === 'changes to undo' && !isIgnored && !accompaniesChange(logged, this.byRecord.get(key));
		if (isToUndo) addChangeToUndo(this.placeLast(logged), logged, originalIds, replaced);

		const history = this.byRecord.get(key);
		if (!change) return history;
		const recreated = this.byRecreation.get(key);
		const concerned = history ?? recreated?.history;
		if (concerned && by === 'others') addFieldChanges(concerned, logged, originalIds);
		if (concerned && cause.origin?.purpose === 'erase') concerned.notUndoable ??= explain('madeAnonymous');
		if (history) history.lastLogged = change === 'deleted' ? undefined : namedFields(event.data.object, history.fieldHistories.keys());
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
	private placeLast({ meaning: { typeName, collection, template }, key, id }: LoggedEvent): RecordHistory {
		const history: RecordHistory = this.byRecord.get(key) ?? {
			typeName, collection, template, id, key, isCreated: false, fieldHistories: new Map(), recreations: [],
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
function accompaniesChange({ event: { data }, meaning: { change, notUndoable } }: LoggedEvent, history: RecordHistory | undefined): boolean {
	const record = history?.lastLogged ?? history?.deletion?.record;
	return change === undefined && notUndoable === undefined && record !== undefined && versionNumber(record) === versionNumber(data.object);
}

/** @param replaced the history of the deleted record in place of which an undo has created this one */
function addChangeToUndo(history: RecordHistory, logged: LoggedEvent, originalIds: Substitutes, replaced: RecordHistory | undefined): void {
	const { event, meaning: { change, notUndoable } } = logged;
	const { object } = event.data;
	history.name = recordName(object) ?? history.name;
	if (notUndoable) history.notUndoable = notUndoable;
	else if (isErased(event)) history.notUndoable = explain('erasedSince');
	else if (history.id === '' || change === undefined) history.notUndoable = explain('notUnderstood', event.type);
	else if (change === 'updated') addFieldChanges(history, logged, originalIds);
	else if (change === 'deleted') history.deletion = { event: event.id, record: object, fieldHistories: new Map(history.fieldHistories) };
	else {
		// For a user, a record that becomes visible is reported as created, too.
		if (versionNumber(object)! > 1n) history.notUndoable = explain('notCreated');
		// A record that was created in place of a deleted one is to be deleted only if that one was created, too.
		history.isCreated = replaced?.deletion ? replaced.isCreated : true;
	}
}

/** Only what follows a change to undo counts. */
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

/** What the changes of one value amount to. */
interface ValueHistory {
	/** The value before the changes to undo; before the last of them, if someone else has changed it in between. */
	before: unknown;
	/** The value after the changes to undo. */
	after: unknown;
	/** Sequence of the change that replaced `before`. */
	firstSequence: number;
	/** Sequence of the event that shows that someone else had changed it before that: their last one or, if it is not visible, the next. */
	othersBefore: number | undefined;
	/** Sequence of the last change by someone else since, unless an undo has taken it back. */
	othersSince?: number | undefined;
}

export interface FieldHistory extends ValueHistory {
	/** For a list: its entries that the changes to undo have moved, each with the history of whether the list contains it. */
	entries: ReadonlyMap<string, { entry: unknown; moves: ValueHistory }>;
}

interface ValueChange {
	isToUndo: boolean;
	/** Whether it was itself an undo. */
	isUndo: boolean;
	sequence: number;
	before: unknown;
	after: unknown;
}

/** The history of a field after a further change; undefined as long as none is to be undone. */
function fieldAfter(history: FieldHistory | undefined, change: ValueChange): FieldHistory | undefined {
	const next = valueAfter(history, change);
	return next && { ...next, entries: entriesAfter(history?.entries ?? new Map(), change) };
}

function valueAfter(history: ValueHistory | undefined, { isToUndo, isUndo, sequence, before, after }: ValueChange): ValueHistory | undefined {
	if (isToUndo) {
		const isContinued = history && !history.othersSince && hasSameValue(history.after, before);
		if (isContinued) return { ...history, after };
		return { before, after, firstSequence: sequence, othersBefore: history && (history.othersSince ?? sequence) };
	}
	if (!history) return undefined;
	// An undo that restores the value after the changes to undo takes back what others have changed since.
	const isTakenBack = isUndo && hasSameValue(after, history.after);
	return { ...history, othersSince: isTakenBack ? undefined : sequence };
}

/** In a list, each entry is like a field whose value is whether the list contains it. */
function entriesAfter(histories: FieldHistory['entries'], change: ValueChange): FieldHistory['entries'] {
	if (!Array.isArray(change.before) && !Array.isArray(change.after)) return histories;
	const [before, after] = [entriesByKey(change.before), entriesByKey(change.after)];
	const next = new Map(histories);
	for (const [key, entry] of new Map([...before, ...after])) {
		if (before.has(key) === after.has(key)) continue;
		const moves = valueAfter(histories.get(key)?.moves, { ...change, before: before.has(key), after: after.has(key) });
		if (moves) next.set(key, { entry, moves });
	}
	return next;
}

const entriesByKey = (list: unknown): Map<string, unknown> =>
	new Map((Array.isArray(list) ? list : []).map((entry) => [canonicalText(entry), entry]));

/** By the keys of records: the ids that links have in place of theirs. */
export type Substitutes = Map<string, string>;

/** A value of a field with these ids in its links. @param link the field, if it is a link */
export function withSubstitutes(ids: Substitutes, link: Field | undefined, value: unknown): unknown {
	const keyOf = (collection: Collection, id: unknown) => recordKey({ collection, id: idText(id) ?? '' });
	return (link ? withReplacedIds(link, value, (target, id) => withNewId(id, ids.get(keyOf(target, id)))) : value) ?? null;
}

type DeletedRecord = Pick<LoggedEvent, 'id' | 'key'>;

/** A record, and those that undos have created in its place, each after one before it was deleted. */
interface Succession {
	/** Those that were deleted: first the original one. */
	deleted: DeletedRecord[];
	/** Of the one that exists, if one does. */
	livingId?: string | undefined;
}

/** The records that undos, whoever ran them, have created in place of deleted ones, as far as the log was read. */
class Recreations {
	/** The ids of the original records, for those that were created in their place. */
	readonly originalIds: Substitutes = new Map();
	/** By the collection, and the hash in the key of a creation in place of the deleted record. A CRM may create others along with it. */
	private readonly byDeletion = new Map<string, DeletedRecord>();
	private readonly byRecord = new Map<string, Succession>();

	/** @returns for a creation in place of a deleted record: the key of that record */
	add({ event, meaning: { collection, change }, cause: { origin }, id, key, by }: LoggedEvent): string | undefined {
		if (change === 'deleted') {
			this.byDeletion.set(`${collection} ${subjectHash(event.id)}`, { id, key });
			const succession = this.byRecord.get(key);
			if (succession?.livingId !== id) return undefined;
			succession.deleted.push({ id, key });
			succession.livingId = undefined;
		}
		const deleted = change === 'created' && origin ? this.byDeletion.get(`${collection} ${origin.hash}`) : undefined;
		if (!deleted) return undefined;
		const succession = getOrCreate(this.byRecord, deleted.key, (): Succession => ({ deleted: [deleted] }));
		// It takes the place of the deleted one unless its creation is to be undone, too, or it is a second copy.
		if (by === 'changes to undo' || (succession.livingId ?? id) !== id) return deleted.key;
		succession.livingId = id;
		this.byRecord.set(key, succession);
		this.originalIds.set(key, succession.deleted[0]!.id);
		return deleted.key;
	}

	/** For deleted records: the ids of those in their place that exist; with `last`, if none does, of the last to be deleted. */
	newIds(which: 'existing' | 'last'): Substitutes {
		const ids: Substitutes = new Map();
		for (const { deleted, livingId } of this.byRecord.values()) {
			const newId = livingId ?? (which === 'last' ? deleted.at(-1)!.id : undefined);
			if (newId !== undefined) for (const { key } of deleted) ids.set(key, newId);
		}
		return ids;
	}
}
