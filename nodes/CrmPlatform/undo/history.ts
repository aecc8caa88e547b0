import type { IDataObject } from 'n8n-workflow';

import { idText, isObject, scalarsIn } from '../base/json';
import { getOrCreate } from '../base/maps';
import { allCustomFields, customKeyOf } from '../fields/field';
import { causeOf } from '../log/cause';
import type { CrmEvent, EventMeaning } from '../log/crmEvent';
import { compareInstants } from '../values/dates';
import { canonicalText, fieldValue, hasField, hasSameValue } from './fieldValues';
import type { Change } from '../changes/merge';

/** A record that an undo has created in place of a deleted one. */
export interface Recreation {
	id: string;
	/** Its state when it was created. */
	state: RecordState;
	/** Its state according to the last event, whoever caused it. */
	newest: RecordState;
	/** Whether its creation is to be undone, too. */
	isToBeUndone: boolean;
	/** Whether it was changed after its creation. */
	isChanged: boolean;
}

/** The changes of one record. */
export interface RecordHistory extends Pick<EventMeaning, 'recordType' | 'collection' | 'template'> {
	id: string;
	name?: string;
	/** Whether its creation is to be undone. */
	isCreated: boolean;
	/** The changes of the fields that the changes to undo have changed, by the names that events give the fields. */
	changes: Map<string, FieldChange[]>;
	/** What these changes amount to, once the log was read. */
	fields: Map<string, FieldHistory>;
	/** The deletion of the record, if it is to be undone. */
	deletion?: { event: string; record: IDataObject; isCauseReported: boolean };
	/** The records that undos have created in its place, the earliest first. */
	recreations: Recreation[];
	/** Its state after the last change to undo. */
	state: RecordState;
	/** Its state according to the last event, whoever caused it. */
	newest: RecordState;
	/** Sequence of the last change to undo. */
	sequence: number;
	/** The fields that others have changed since the first change to undo, with their values before. */
	changedByOthers: Map<string, unknown>;
	/** Why it cannot be undone. */
	problem?: string;
}

export const newHistory = ({ recordType, collection, template }: EventMeaning, id: string): RecordHistory => ({
	recordType,
	collection,
	template,
	id,
	isCreated: false,
	changes: new Map(),
	fields: new Map(),
	recreations: [],
	state: {},
	newest: {},
	sequence: 0,
	changedByOthers: new Map(),
});

/** Adds an update that is to be undone. */
export function addUpdateToUndo(history: RecordHistory, { sequence, data: { object, previous, changed } }: CrmEvent): void {
	if (changed.length === 0 || !previous || !changed.every((name) => hasField(previous, name))) {
		history.problem = 'The CRM does not report the previous values.';
		return;
	}
	for (const name of changed) {
		const values = { before: fieldValue(previous, name) ?? null, after: fieldValue(object, name) ?? null };
		const { before, after } = values;
		// The members that it lacks would be cleared.
		const isPartial = isObject(before) && isObject(after) && Object.keys(after).some((member) => !Object.hasOwn(before, member));
		if (isPartial) history.problem = `The CRM reports only a part of the previous value of ${name}.`;
		const changes = getOrCreate(history.changes, name, () => []);
		changes.push({ sequence, isOwn: true, values, isOmitted: isOmitted(object, name) });
	}
}

/** Adds a change that someone else made. */
export function addChangeByOthers(history: RecordHistory, event: CrmEvent, { change }: EventMeaning): void {
	const { sequence, data: { object, previous, changed } } = event;
	const isUndo = causeOf(event).origin?.purpose === 'undo';
	noteChangeByOthers(history, event, isUndo);
	// A record that is created again gets the values that it had when it was deleted.
	if (change === 'deleted') return;
	for (const [name, changes] of history.changes) {
		if (changed.length > 0 && !changed.includes(name)) continue;
		const values = previous && hasField(previous, name) ? { before: fieldValue(previous, name), after: fieldValue(object, name) } : undefined;
		changes.push({ sequence, isOwn: false, isUndo, ...(values && { values }), isOmitted: values !== undefined && isOmitted(object, name) });
	}
}

/**
 * Notes the fields that others have changed, with their values before. An event that names none changes the record as a whole.
 *
 * @param isUndo whether it takes back the changes of the fields that get these values again
 */
export function noteChangeByOthers({ changedByOthers }: RecordHistory, { data: { object, previous, changed } }: CrmEvent, isUndo = false): void {
	for (const name of previous && changed.length > 0 ? changed : ['']) {
		const isTakenBack = isUndo && changedByOthers.has(name) && hasSameValue(changedByOthers.get(name), fieldValue(object, name) ?? null);
		if (isTakenBack) changedByOthers.delete(name);
		else if (!changedByOthers.has(name)) changedByOthers.set(name, previous ? (fieldValue(previous, name) ?? null) : undefined);
	}
}

/** Whether a record has custom fields, but not this one: a service leaves out empty ones. */
const isOmitted = (record: IDataObject, name: string): boolean =>
	customKeyOf(name) !== undefined && isObject(record[allCustomFields]) && !hasField(record, name);

/** Whether a deleted record lacks a field that was changed before, so that its last event does not have the whole record. */
export const lacksChangedField = ({ changes }: RecordHistory, record: IDataObject): boolean =>
	[...changes].some(([name, all]) => !all.at(-1)!.isOmitted && !hasField(record, name));

/** A change of one field. */
interface FieldChange {
	sequence: number;
	/** Whether it is to be undone. */
	isOwn: boolean;
	/** Whether an undo of other changes has made it. */
	isUndo?: boolean;
	/** Absent if the log does not have them, which only happens for others' changes. */
	values?: { before: unknown; after: unknown };
	/** Whether it cleared a custom field, and the service leaves out empty ones. */
	isOmitted?: boolean;
}

/** What the changes of one field amount to. */
export interface FieldHistory {
	/** The value before the changes to undo; before the last of them, if someone else has changed the field in between. */
	before: unknown;
	/** The value after the changes to undo. */
	after: unknown;
	/** Whether someone else has changed it since. */
	isChangedByOthers: boolean;
	/** Whether the last change by someone else was an undo. */
	isUndoneByOthers?: boolean;
	/** Sequence of the change that replaced `before`. */
	firstSequence: number;
	/** Sequence of the last change by someone else, if there is one; for one that the log lacks, of the change after it. */
	othersSequence?: number;
	/** For a list: its entries that the changes to undo have added or removed. */
	entries: EntryHistory[];
}

interface EntryHistory {
	entry: unknown;
	/** Whether the list contained it before the changes to undo. */
	wasIn: boolean;
	/** Whether the list contained it after the changes to undo. */
	isIn: boolean;
	/** Whether someone else has removed it or added it again since. */
	isChangedByOthers: boolean;
}

/** Replays the changes of a field, as if those to undo had not been made. */
export function replay(changes: FieldChange[]): FieldHistory {
	let history: FieldHistory | undefined;
	/** As the last change to undo left it. */
	let left: FieldHistory | undefined;
	for (const { sequence, isOwn, isUndo = false, values } of changes) {
		const { before, after } = values ?? { before: null, after: null };
		if (!isOwn) {
			if (!history) continue;
			// An undo of what others have changed since takes back that they have.
			const isTakenBack = isUndo && values !== undefined && hasSameValue(after, history.after);
			history = isTakenBack ? left : { ...history, isChangedByOthers: true, isUndoneByOthers: isUndo, othersSequence: sequence };
			continue;
		}
		if (history && !history.isChangedByOthers && hasSameValue(history.after, before)) history = { ...history, after };
		else {
			const othersSequence = history && (history.isChangedByOthers ? history.othersSequence : sequence);
			history = {
				before, after, isChangedByOthers: false, firstSequence: sequence, entries: [],
				...(othersSequence !== undefined && { othersSequence }),
			};
		}
		left = history;
	}
	return { ...history!, entries: replayedEntries(changes) };
}

/** In a list, each entry is replayed like a field whose value is whether the list contains it. */
function replayedEntries(changes: FieldChange[]): EntryHistory[] {
	if (!changes.some(({ values }) => Array.isArray(values?.before) || Array.isArray(values?.after))) return [];
	const sides = changes.map(({ values }) => values && { before: entriesByKey(values.before), after: entriesByKey(values.after) });
	const entries = new Map(sides.flatMap((side, i) => (changes[i]!.isOwn && side ? [...side.before, ...side.after] : [])));
	return [...entries].flatMap(([key, entry]): EntryHistory[] => {
		const moves = changes.flatMap((change, i): FieldChange[] => {
			const side = sides[i];
			if (!side) return [change];
			const values = { before: side.before.has(key), after: side.after.has(key) };
			return values.before === values.after ? [] : [{ ...change, values }];
		});
		if (!moves.some(({ isOwn }) => isOwn)) return [];
		const { before, after, isChangedByOthers } = replay(moves);
		return before === after ? [] : [{ entry, wasIn: before === true, isIn: after === true, isChangedByOthers }];
	});
}

const entriesByKey = (list: unknown): Map<string, unknown> =>
	new Map((Array.isArray(list) ? list : []).map((entry) => [canonicalText(entry), entry]));

/**
 * Removes the entries that the workflow has added to a list, and adds those that it has removed. An entry that others
 * have changed since stays as it is, unless the undo takes precedence.
 *
 * @param withNewIds replaces the ids of records that were created again
 * @returns the list, and whether an entry stays as the workflow left it, because others have changed it since
 */
export function withEntriesUndone(
	current: unknown[],
	{ entries }: FieldHistory,
	withNewIds: (value: unknown) => unknown,
	takesPrecedence: boolean,
): { list: unknown[]; hasKeptEntries: boolean } {
	const changedEntries = entries.map((entryHistory) => ({ ...entryHistory, entry: withNewIds(entryHistory.entry) }));
	const currentEntries = entriesByKey(current);
	const isInNow = ({ entry }: EntryHistory) => currentEntries.has(canonicalText(entry));
	const undoneEntries = changedEntries.filter(({ isChangedByOthers }) => takesPrecedence || !isChangedByOthers);
	const addedKeys = new Set(undoneEntries.filter(({ isIn }) => isIn).map(({ entry }) => canonicalText(entry)));
	const removedEntries = undoneEntries.filter((entryHistory) => !entryHistory.isIn && !isInNow(entryHistory)).map(({ entry }) => entry);
	return {
		list: [...current.filter((entry) => !addedKeys.has(canonicalText(entry))), ...removedEntries],
		hasKeptEntries: changedEntries.some((entry) => !undoneEntries.includes(entry) && isInNow(entry) === entry.isIn),
	};
}

/** The state of a record, which differs after each change: its version, or the time of its last change. */
export interface RecordState {
	version?: unknown;
	time?: unknown;
}

export const recordStateOf = ({ version, updated_at: time }: IDataObject): RecordState => ({ version, time });

/** Compares the current state of a record with a previous one; `unknown` unless both have a version, or both a time. */
export function compareStates(current: RecordState, previous: RecordState): 'same' | 'older' | 'newer' | 'unknown' {
	const [version, former] = [current.version, previous.version].map(versionNumber);
	const [time, formerTime] = [current.time, previous.time].map((text) => (typeof text === 'string' && !Number.isNaN(Date.parse(text)) ? text : undefined));
	let difference: number | bigint | undefined;
	if (version !== undefined && former !== undefined) difference = version - former;
	else if (time !== undefined && formerTime !== undefined) difference = compareInstants(time, formerTime);
	if (difference === undefined) return 'unknown';
	return difference < 0 ? 'older' : difference > 0 ? 'newer' : 'same';
}

/** A version, which is a whole number of any length. */
export const versionNumber = (version: unknown): bigint | undefined => (/^\d+$/.test(String(version)) ? BigInt(String(version)) : undefined);

/** Returns a function that checks whether a value contains the id of a record whose deletion is to be undone. */
export function linksToDeletedRecords(histories: RecordHistory[]): (value: unknown) => boolean {
	const deletedIds = new Set(histories.flatMap(({ deletion, isCreated, id }) => (deletion && !isCreated ? [id] : [])));
	return (value) => scalarsIn(value).some((scalar) => deletedIds.has(idText(scalar) ?? ''));
}

export const partOfRecord = 'The CRM reports only a part of the record that was deleted.';

type UndoAction = 'update' | 'delete' | 'create';

/** The undo of one record: first the plan, then the outcome. */
export interface RecordUndo {
	history: RecordHistory;
	result: 'undone' | 'already_so' | 'conflict' | 'cannot_be_undone';
	/** The restored values. Fields are named as in events, and members of an object by themselves: `address.city`. */
	changes: Change[];
	reason?: string;
	/** Absent if nothing is written. */
	action?: UndoAction;
	current?: IDataObject;
	/** Id of the record that was created in place of a deleted one. */
	newId?: string;
	/** Whether the service refused the write because another record has a value that must be unique. */
	isDuplicate?: true;
	/** Id of the record that has the value, if the service reports it. */
	holder?: string;
	/** The next write of this record, without the values that the service refused. */
	nextAttempt?: RecordUndo;
}

/** An undo of a record that writes nothing. */
export const withoutWrite = (history: RecordHistory, result: RecordUndo['result'], reason?: string): RecordUndo => ({
	history,
	result,
	changes: [],
	...(reason !== undefined && { reason }),
});

/** Marks all changes as kept, so that none of them is written. */
export const allKept = (changes: Change[]): Change[] => changes.map((change) => ({ ...change, kept: true }));
