import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../api/http/json';
import { hasSameValue, type FieldHistory, type RecordHistory } from './history';
import { valueByName } from './links';

/** What becomes of a value. */
export interface UndoneChange {
	/** As events name it: `custom_fields.<key>` for a custom field. */
	field: string;
	/** The value now. */
	from: unknown;
	/** The value before. */
	to: unknown;
	/** Whether the value of now stays. */
	kept?: true;
}

export type UndoAction = 'update' | 'delete' | 'create';

/** What becomes of a record. */
export interface Undoing {
	history: RecordHistory;
	result: 'undone' | 'already_so' | 'conflict' | 'cannot_be_undone';
	changes: UndoneChange[];
	reason?: string;
	/** What is to be written, if anything. */
	action?: UndoAction;
	/** The record as it is now. */
	current?: IDataObject;
	/** Id of the record that was created in its place. */
	newId?: string;
}

/** What the CRM has of the records now. */
export interface Current {
	/** Undefined for what the service does not return. */
	record(collection: string, id: string): IDataObject | undefined;
	/** Whether the service returns deleted records: one that it does not return is then out of sight. */
	showsDeleted(collection: string): boolean;
	/** Whether a deletion that the log has may be that of the sight only. */
	isSightLimited: boolean;
	/** Whether the service tells when a record was deleted, and has. */
	isDeleted(collection: string, record: IDataObject): boolean;
}

/** The fields of a kind of record that can be written. */
export interface Writable {
	isChanged(name: string): boolean;
	isCreated(name: string): boolean;
	/** Whether a record can be created under a key by which the next undo finds it. */
	namesDeletions: boolean;
}

export interface UndoRules {
	current: Current;
	writable(history: RecordHistory): Writable;
	/** Created records that others link to. */
	linked: ReadonlySet<string>;
	/** Whether what others have changed since is overwritten. */
	takesPrecedence: boolean;
}

/** Decides what becomes of each record. */
export function planUndo(histories: RecordHistory[], rules: UndoRules): Undoing[] {
	const staying = new Set<string>();
	const plan = () => histories.map((history) => decide(history, rules, staying));
	let planned = plan();
	// What a record that stays names stays with it.
	for (;;) {
		const named = planned.flatMap(({ result, history }) => (history.isCreated && result === 'conflict' ? history.names : []));
		const added = named.filter((id) => !staying.has(id));
		if (added.length === 0) return planned;
		for (const id of added) staying.add(id);
		planned = plan();
	}
}

function decide(history: RecordHistory, rules: UndoRules, staying: ReadonlySet<string>): Undoing {
	const { current } = rules;
	const { collection, id, isCreated, deletion, problem, version } = history;
	const outcome = (result: Undoing['result'], reason?: string): Undoing => ({
		history,
		result,
		changes: [],
		...(reason !== undefined && { reason }),
	});
	if (problem !== undefined) return outcome('cannot_be_undone', problem);
	const found = current.record(collection, id);
	const record = found && !current.isDeleted(collection, found) ? found : undefined;
	if (record && isOlder(record.version, version)) return outcome('conflict', outdated);
	const isOutOfSight = !found && current.showsDeleted(collection);

	if (isCreated) {
		if (!record) return isOutOfSight ? outcome('conflict', outOfSight) : outcome('already_so', gone);
		if (deletion) return outcome('conflict', existsAgain);
		const isLinked = rules.linked.has(id) || staying.has(id);
		const isChanged = history.isTouched || String(record.version) !== String(version);
		if ((isChanged || isLinked) && !rules.takesPrecedence) return outcome('conflict', isChanged ? changedSince : linkedSince);
		return { ...outcome('undone'), action: 'delete', current: record };
	}
	if (deletion) return restoreRecord(outcome, history, rules, found, record);
	if (!record) return outcome('conflict', isOutOfSight ? outOfSight : deletedSince);
	return restoreFields(outcome, history, rules, record);
}

type Decided = (result: Undoing['result'], reason?: string) => Undoing;

function restoreRecord(outcome: Decided, history: RecordHistory, rules: UndoRules, found: IDataObject | undefined, record: IDataObject | undefined): Undoing {
	const { current, writable } = rules;
	const { collection, anew, deletion, fields } = history;
	if (record) return outcome('conflict', existsAgain);
	if (anew.length > 0) {
		const living = anew.find((one) => {
			const again = current.record(collection, one.id);
			return again && !current.isDeleted(collection, again);
		});
		const [{ id } = { id: '' }] = anew;
		return living ? { ...outcome('already_so', createdAnew(living.id)), newId: living.id } : outcome('conflict', anewIsGone(id));
	}
	if (!found && (current.showsDeleted(collection) || current.isSightLimited)) return outcome('cannot_be_undone', maybeNotDeleted);
	const values = { ...deletion!.record };
	for (const [name, { before, isTheirs }] of fields) if (!isTheirs) setValue(values, name, before);
	const can = writable(history);
	if (!can.namesDeletions || !deletion!.tellsOrigin) return outcome('cannot_be_undone', notNamed);
	const changes = Object.entries(values)
		.filter(([name, value]) => can.isCreated(name) && !isEmpty(value))
		.map(([field, value]): UndoneChange => ({ field, from: null, to: isObject(value) ? withoutNulls(value) : value }));
	return { ...outcome('undone'), changes, action: 'create' };
}

function restoreFields(outcome: Decided, history: RecordHistory, { writable, takesPrecedence }: UndoRules, record: IDataObject): Undoing {
	const can = writable(history);
	const own = [...history.fields].filter(([name]) => can.isChanged(name.replace(/\..*$/s, '')));
	// An undo has created it in place of another, and nothing has changed it since.
	if (history.fields.size === 0) return outcome('already_so', hasValues);
	if (own.length === 0) return outcome('cannot_be_undone', setByService([...history.fields.keys()]));
	const changes = own.flatMap(([field, { before, after, isTheirs }]: [string, FieldHistory]): UndoneChange[] => {
		const from = valueByName(record, field) ?? null;
		if (hasSameValue(from, before)) return [];
		const isKept = (isTheirs || !hasSameValue(from, after)) && !takesPrecedence;
		return [{ field, from, to: before, ...(isKept && { kept: true as const }) }];
	});
	const isConflict = changes.some(({ kept }) => kept);
	const isWritten = changes.some(({ kept }) => !kept);
	if (!isConflict && !isWritten) return outcome('already_so', hasValues);
	return {
		...outcome(isConflict ? 'conflict' : 'undone', isConflict ? fieldsChangedSince : undefined),
		changes,
		current: record,
		...(isWritten && { action: 'update' as const }),
	};
}

/** The merge patch (RFC 7396) that makes the changes. */
function patchOf(changes: UndoneChange[]): IDataObject {
	const patch: IDataObject = {};
	for (const { field, from, to, kept } of changes) if (!kept) setValue(patch, field, difference(from, to));
	return patch;
}

/** What an undo writes. */
export const formerValues = ({ action, changes }: Undoing): IDataObject =>
	action === 'update' ? patchOf(changes) : (Object.fromEntries(changes.map(({ field, to }) => [field, to])) as IDataObject);

/** An object is merged: what it has now and had not before has to be cleared. */
function difference(from: unknown, to: unknown): unknown {
	if (!isObject(to) || !isObject(from)) return to ?? null;
	const cleared = Object.keys(from).filter((name) => !Object.hasOwn(to, name)).map((name) => [name, null]);
	const kept = Object.entries(to).map(([name, value]) => [name, difference(from[name], value)]);
	return Object.fromEntries([...cleared, ...kept]);
}

/** Sets a value by the name that events give its field. */
export function setValue(record: IDataObject, field: string, value: unknown): void {
	const custom = /^custom_fields\.(.+)$/s.exec(field)?.[1];
	if (custom === undefined) record[field] = value as IDataObject;
	else record.custom_fields = { ...(record.custom_fields as IDataObject | undefined), [custom]: value as IDataObject };
}

const withoutNulls = (value: IDataObject): IDataObject => Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null));

const isEmpty = (value: unknown): boolean =>
	value === null || value === undefined || (Array.isArray(value) && value.length === 0) || (isObject(value) && Object.values(value).every(isEmpty));

/** A version that counts up: a replica may be behind the log. */
const isOlder = (version: unknown, than: unknown): boolean =>
	/^\d+$/.test(String(version)) && /^\d+$/.test(String(than)) && Number(version) < Number(than);

const gone = 'The record is gone already.';
const hasValues = 'The record has its former values already.';
const createdAnew = (id: string) => `It was created again as ${id}.`;
const anewIsGone = (id: string) => `It was created again as ${id}, which has been deleted since.`;
const existsAgain = 'The record was deleted, and exists again.';
const changedSince = 'The workflow created this record, and someone else has changed it since. It was not deleted.';
const linkedSince = 'The workflow created this record, and records of others link to it. It was not deleted.';
const fieldsChangedSince = 'Someone else has changed these fields since. Their values were kept.';
const deletedSince = 'Someone else has deleted the record since.';
const outdated = 'The service returned an earlier version of the record than its log has. Run the undo again.';
const outOfSight = 'The service does not return this record: it is out of sight of the credential, or erased.';
const maybeNotDeleted = 'The service does not show that the record was deleted: it may only be out of sight of the credential.';
const notNamed = 'The service’s idempotency keys cannot name what is created again, so a second undo would create it twice.';
const setByService = (names: string[]) => `Only fields that the service sets were changed: ${names.join(', ')}.`;
