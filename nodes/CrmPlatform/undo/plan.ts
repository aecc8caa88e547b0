import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../api/http/json';
import { setByName, valueByName } from './changedField';
import { hasSameValue, type FieldHistory, type RecordHistory } from './history';

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
	/** The created records that are linked when a plan is carried out. */
	linkedAfter(planned: Undoing[]): Set<string>;
	/** A value with the ids that its records have now. */
	renamed(value: unknown): unknown;
	/** Whether what others have changed since is overwritten. */
	takesPrecedence: boolean;
}

/** Decides what becomes of each record. */
export function planUndo(histories: RecordHistory[], given: Omit<UndoRules, 'renamed'>): Undoing[] {
	const newIds = new Map(histories.flatMap((one): Array<[string, string]> => {
		const again = createdInPlaceOf(one, given.current);
		return again ? [[one.id, again.id]] : [];
	}));
	const renamed = (value: unknown): unknown =>
		JSON.parse(JSON.stringify(value ?? null), (_, one: unknown) => (typeof one === 'string' ? (newIds.get(one) ?? one) : one));
	return withLinkedKept(histories.map((history) => decide(history, { ...given, renamed })), given.linkedAfter);
}

/** Keeps created records that are linked when the undo is done; what they link to in turn is kept with them. */
export function withLinkedKept(planned: Undoing[], linkedAfter: (planned: Undoing[]) => ReadonlySet<string>): Undoing[] {
	const linked = linkedAfter(planned);
	const isKept = ({ action, history }: Undoing) => action === 'delete' && linked.has(history.id);
	if (!planned.some(isKept)) return planned;
	return withLinkedKept(planned.map((one) => (isKept(one) ? asLinked(one) : one)), linkedAfter);
}

/** A created record that stays. */
export const asLinked = ({ history }: Undoing): Undoing => ({ history, result: 'conflict', changes: [], reason: linkedSince });

function decide(history: RecordHistory, rules: UndoRules): Undoing {
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
	const record = livingRecord(current, collection, id);
	if (record && isOlder(record.version, version)) return outcome('conflict', outdated);
	const again = createdInPlaceOf(history, current);
	const isOutOfSight = !found && current.showsDeleted(collection);

	if (isCreated) {
		if (!record && again && !again.isOwn) return { ...outcome('conflict', stays(again.id)), newId: again.id };
		if (!record && deletion && history.isTouched && !rules.takesPrecedence) return outcome('conflict', deletedWithTheirs);
		if (!record) return isOutOfSight ? outcome('conflict', outOfSight) : outcome('already_so', gone);
		if (deletion) return outcome('conflict', existsAgain);
		const isChanged = history.isTouched || String(record.version) !== String(version);
		if (isChanged && !rules.takesPrecedence) return outcome('conflict', changedSince);
		if (current.isSightLimited && !rules.takesPrecedence) return outcome('conflict', maybeLinked);
		return { ...outcome('undone'), action: 'delete', current: record };
	}
	if (deletion) return restoreRecord(outcome, history, rules, found, record);
	// What somebody else has deleted, and an undo has created again.
	if (!record && again) return { ...restoreFields(outcome, history, rules, again.record), newId: again.id };
	if (!record) return outcome('conflict', isOutOfSight ? outOfSight : deletedSince);
	return restoreFields(outcome, history, rules, record);
}

/** The living record that an undo, whoever ran it, has created in place of a deleted one. */
function createdInPlaceOf({ collection, anew }: RecordHistory, current: Current): { id: string; isOwn?: boolean; record: IDataObject } | undefined {
	for (const { id, isOwn = false } of anew) {
		const record = livingRecord(current, collection, id);
		if (record) return { id, isOwn, record };
	}
	return undefined;
}

/** A record that the service returns and does not call deleted. */
export function livingRecord(current: Current, collection: string, id: string): IDataObject | undefined {
	const record = current.record(collection, id);
	return record && !current.isDeleted(collection, record) ? record : undefined;
}

type Decided = (result: Undoing['result'], reason?: string) => Undoing;

function restoreRecord(outcome: Decided, history: RecordHistory, rules: UndoRules, found: IDataObject | undefined, record: IDataObject | undefined): Undoing {
	const { current, writable } = rules;
	const { collection, anew, deletion, fields } = history;
	if (record) return outcome('conflict', existsAgain);
	if (anew.length > 0) {
		const [{ id } = { id: '' }] = anew;
		const living = createdInPlaceOf(history, current);
		if (!living) return outcome('conflict', anewIsGone(id));
		const changes = [...fields].flatMap(([field, { before, isTheirs }]): UndoneChange[] => {
			const from = valueByName(living.record, field) ?? null;
			const to = rules.renamed(before);
			const isSame = hasSameValue(from, to) || (isEmpty(from) && isEmpty(to));
			return isTheirs || isSame || !writable(history).isCreated(field.replace(/\..*$/s, '')) ? [] : [{ field, from, to, kept: true }];
		});
		const isDifferent = changes.length > 0;
		return { ...outcome(isDifferent ? 'conflict' : 'already_so', isDifferent ? anewDiffers(living.id) : createdAnew(living.id)), changes, newId: living.id };
	}
	if (!found && (current.showsDeleted(collection) || current.isSightLimited)) return outcome('cannot_be_undone', maybeNotDeleted);
	const values = { ...deletion!.record };
	for (const [name, { before, isTheirs }] of fields) if (!isTheirs) setByName(values, name, before);
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
	for (const { field, from, to, kept } of changes) if (!kept) setByName(patch, field, difference(from, to));
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

const withoutNulls = (value: IDataObject): IDataObject => Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null));

const isEmpty = (value: unknown): boolean =>
	value === null || value === undefined || (Array.isArray(value) && value.length === 0) || (isObject(value) && Object.values(value).every(isEmpty));

/** A version that counts up: a replica may be behind the log. */
const isOlder = (version: unknown, than: unknown): boolean =>
	/^\d+$/.test(String(version)) && /^\d+$/.test(String(than)) && Number(version) < Number(than);

const gone = 'The record is gone already.';
const hasValues = 'The record has its former values already.';
const createdAnew = (id: string) => `It was created again as ${id}.`;
const anewDiffers = (id: string) => `It was created again as ${id}, which has other values than before the changes. They were kept.`;
const stays = (id: string) => `The workflow created this record. It was deleted, and created again as ${id}, which was not deleted.`;
const deletedWithTheirs = 'The workflow created this record, someone else changed it, and the workflow deleted it. It was not created again.';
const anewIsGone = (id: string) => `It was created again as ${id}, which has been deleted since.`;
const existsAgain = 'The record was deleted, and exists again.';
const changedSince = 'The workflow created this record, and someone else has changed it since. It was not deleted.';
const linkedSince = 'The workflow created this record, and records that stay link to it. It was not deleted.';
const maybeLinked =
	'The workflow created this record, and others that you do not see may link to it. It was not deleted. To delete it, undo with an API key, or turn on Undo Takes Precedence.';
const fieldsChangedSince = 'Someone else has changed these fields since. Their values were kept.';
const deletedSince = 'Someone else has deleted the record since.';
const outdated = 'The service returned an earlier version of the record than its log has. Run the undo again.';
const outOfSight = 'The service does not return this record: it is out of sight of the credential, or erased.';
const maybeNotDeleted = 'The service does not show that the record was deleted: it may only be out of sight of the credential.';
const notNamed = 'The service’s idempotency keys cannot name what is created again, so a second undo would create it twice.';
const setByService = (names: string[]) => `Only fields that the service sets were changed: ${names.join(', ')}.`;
