import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../api/http/json';
import { namedValuesOf, setByName, valueByName } from './changedField';
import { asLinked, copiesOf } from './copies';
import { withForms } from './forms';
import { deletedLinks, hasSameValue, partOfRecord, type Copy, type FieldHistory, type RecordHistory } from './history';
import type { UndoneChange, Undoing } from './undoing';
import type { Writable } from './writable';

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

interface UndoRules {
	current: Current;
	writable(history: RecordHistory): Writable;
	/** The created records that are linked when a plan is carried out. */
	linkedAfter(planned: Undoing[]): Set<string>;
	/** A value with the ids that its records have now. */
	renamed(value: unknown): unknown;
	/** Whether a value names a record whose deletion is undone. */
	linksToDeleted(value: unknown): boolean;
	/** Whether what others have changed since is overwritten. */
	takesPrecedence: boolean;
}

/** Decides what becomes of each record. */
export function planUndo(histories: RecordHistory[], given: Omit<UndoRules, 'renamed' | 'linksToDeleted'>): Undoing[] {
	const newIds = new Map(histories.flatMap((one): Array<[string, string]> => {
		const again = createdInPlaceOf(one, given.current);
		return again ? [[one.id, again.id]] : [];
	}));
	const renamed = (value: unknown): unknown =>
		JSON.parse(JSON.stringify(value ?? null), (_, one: unknown) => (typeof one === 'string' ? (newIds.get(one) ?? one) : one));
	const linksToDeleted = deletedLinks(histories);
	const copies = histories.flatMap((history) => {
		const { current, takesPrecedence } = given;
		const living = history.anew.filter(({ id }) => livingRecord(current, history.collection, id));
		return copiesOf(history, living, takesPrecedence || current.isSightLimited, ({ id }) => livingRecord(current, history.collection, id)!);
	});
	return withLinkedKept([...histories.map((history) => unlessAhead(decide(history, { ...given, renamed, linksToDeleted }), given)), ...copies], given.linkedAfter);
}

/** Keeps created records that are linked when the undo is done; what they link to in turn is kept with them. */
export function withLinkedKept(planned: Undoing[], linkedAfter: (planned: Undoing[]) => ReadonlySet<string>): Undoing[] {
	const linked = linkedAfter(planned);
	const isKept = ({ action, history }: Undoing) => action === 'delete' && linked.has(history.id);
	if (!planned.some(isKept)) return planned;
	return withLinkedKept(planned.map((one) => (isKept(one) ? asLinked(one) : one)), linkedAfter);
}

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

/** What others have made of a record may not be in the log yet, not even where they have come back to the same value. */
function unlessAhead(one: Undoing, { takesPrecedence }: Pick<UndoRules, 'takesPrecedence'>): Undoing {
	const { action, current, ...rest } = one;
	const { newest } = rest.history.anew.find(({ id }) => id === rest.newId) ?? rest.history;
	if (takesPrecedence || action !== 'update' || !isOlder(newest, current!.version)) return one;
	return { ...rest, result: 'conflict', reason: logBehind, changes: rest.changes.map((change) => ({ ...change, kept: true })) };
}

/** The living record that an undo, whoever ran it, has created in place of a deleted one. */
function createdInPlaceOf({ collection, anew }: RecordHistory, current: Current): Living | undefined {
	for (const copy of anew) {
		const record = livingRecord(current, collection, copy.id);
		if (record) return { ...copy, record };
	}
	return undefined;
}

type Living = Copy & { record: IDataObject };

/** A record that the service returns and does not call deleted. */
function livingRecord(current: Current, collection: string, id: string): IDataObject | undefined {
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
		return living ? restoreAgain(outcome, history, rules, living) : outcome('conflict', anewIsGone(id));
	}
	if (!found && (current.showsDeleted(collection) || current.isSightLimited)) return outcome('cannot_be_undone', maybeNotDeleted);
	const values = { ...deletion!.record };
	const can = writable(history);
	const theirs = withForms(theirsOf(history), history, can);
	for (const [name, { before }] of fields) if (!theirs.has(name)) setByName(values, name, before);
	if (!can.namesDeletions || !deletion!.tellsOrigin) return outcome('cannot_be_undone', notNamed);
	if (!can.isWhole(deletion!.record)) return outcome('cannot_be_undone', partOfRecord);
	const changes = Object.entries(values)
		.filter(([name, value]) => can.isCreated(name) && !isEmpty(value))
		.map(([field, value]): UndoneChange => ({ field, from: null, to: isObject(value) ? withoutNulls(value) : value }));
	return { ...outcome('undone'), changes, action: 'create' };
}

/** What a record lacks that an undo has created in place of a deleted one. */
function restoreAgain(outcome: Decided, history: RecordHistory, { writable, renamed, linksToDeleted, takesPrecedence }: UndoRules, living: Living): Undoing {
	const can = writable(history);
	const { id, isOwn, isTouched, record } = living;
	const changed = [...history.fields].flatMap(([field, { before, after, isTheirs }]): UndoneChange[] => {
		const [from, to] = [valueByName(record, field) ?? null, renamed(before)];
		const isSame = hasSameValue(from, to) || (isEmpty(from) && isEmpty(to));
		if (isTheirs || isSame || !can.isCreated(topOf(field))) return [];
		// Only the deletion was undone before: it still has what the workflow wrote.
		const isWritten = !isOwn && can.isChanged(topOf(field)) && (takesPrecedence || hasSameValue(from, renamed(after)));
		return [{ field, from, to, ...(!isWritten && { kept: true }) }];
	});
	const changes = keptTogether(changed, theirsOf(history), history, can);
	// The other record may have been created after this one, which then has no link to it.
	const links = isOwn || isTouched ? [] : namedValuesOf(history.deletion!.record).flatMap(([field, value]): UndoneChange[] => {
		const from = valueByName(record, field) ?? null;
		const isMissing = linksToDeleted(value) && isEmpty(from) && can.isChanged(topOf(field)) && !history.fields.has(field);
		return isMissing ? [{ field, from, to: renamed(value) }] : [];
	});
	const all = [...changes, ...links];
	const isKept = all.some(({ kept }) => kept);
	const isWritten = all.some(({ kept }) => !kept);
	const reason = isKept ? anewDiffers(id) : createdAnew(id);
	return {
		...outcome(isKept ? 'conflict' : isWritten ? 'undone' : 'already_so', reason),
		changes: all,
		newId: id,
		...(isWritten && { action: 'update' as const, current: record }),
	};
}

const theirsOf = ({ fields }: RecordHistory): string[] => [...fields].flatMap(([name, { isTheirs }]) => (isTheirs ? [name] : []));

/** Keeps with each kept field those that the service changes with it. */
function keptTogether(changes: UndoneChange[], theirs: string[], history: RecordHistory, can: Writable): UndoneChange[] {
	const kept = withForms([...theirs, ...changes.flatMap((one) => (one.kept ? [one.field] : []))], history, can);
	return changes.map((one) => (kept.has(one.field) ? { ...one, kept: true } : one));
}

const topOf = (field: string): string => field.replace(/\..*$/s, '');

function restoreFields(outcome: Decided, history: RecordHistory, { writable, takesPrecedence, renamed }: UndoRules, record: IDataObject): Undoing {
	const can = writable(history);
	const own = [...history.fields].filter(([name]) => can.isChanged(topOf(name)));
	// An undo has created it in place of another, and nothing has changed it since.
	if (history.fields.size === 0) return outcome('already_so', hasValues);
	if (own.length === 0) return outcome('cannot_be_undone', setByService([...history.fields.keys()]));
	const changed = own.flatMap(([field, { before, after, isTheirs }]: [string, FieldHistory]): UndoneChange[] => {
		const from = valueByName(record, field) ?? null;
		const isChangedSince = isTheirs || !hasSameValue(from, after);
		const part = isChangedSince && can.isSet(field) ? withoutDifference(from, renamed(before), renamed(after)) : undefined;
		const to = part ?? renamed(before);
		if (hasSameValue(from, to)) return [];
		const isKept = isChangedSince && !part && !takesPrecedence;
		return [{ field, from, to, ...(isKept && { kept: true as const }) }];
	});
	const changes = keptTogether(changed, [], history, can);
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

/** Of a list of records that others have changed since: what was added goes, what was taken comes back, theirs stays. */
function withoutDifference(now: unknown, before: unknown, after: unknown): unknown[] | undefined {
	if (![now, before, after].every((one) => Array.isArray(one))) return undefined;
	const [current, former, written] = [now, before, after] as unknown[][] as [unknown[], unknown[], unknown[]];
	const isIn = (list: unknown[]) => (one: unknown) => list.some((other) => hasSameValue(one, other));
	const left = current.filter((one) => isIn(former)(one) || !isIn(written)(one));
	const taken = former.filter((one) => !isIn(written)(one) && !isIn(left)(one));
	return [...left, ...taken];
}

const withoutNulls = (value: IDataObject): IDataObject => Object.fromEntries(Object.entries(value).filter(([, one]) => one !== null));

const isEmpty = (value: unknown): boolean =>
	value === null || value === undefined || (Array.isArray(value) && value.length === 0) || (isObject(value) && Object.values(value).every(isEmpty));

/** A version that counts up: a replica may be behind the log. */
const isOlder = (version: unknown, than: unknown): boolean =>
	/^\d+$/.test(String(version)) && /^\d+$/.test(String(than)) && Number(version) < Number(than);

const gone = 'The record is already gone.';
const hasValues = 'The record already has its earlier values.';
const createdAnew = (id: string) => `It was created again as ${id}.`;
const anewDiffers = (id: string) => `It was created again as ${id}. Its values differ from those before the changes, and were kept.`;
const stays = (id: string) => `The workflow created this record. It was deleted, and created again as ${id}, which was not deleted.`;
const deletedWithTheirs = 'The workflow created this record, someone else changed it, and the workflow deleted it. It was not created again.';
const anewIsGone = (id: string) => `It was created again as ${id}, which has been deleted since.`;
const existsAgain = 'The record was deleted, but exists again.';
const changedSince = 'The workflow created this record, and someone else has changed it since. It was not deleted.';
const maybeLinked =
	'The workflow created this record, and others that you do not see may link to it. It was not deleted. To delete it, undo with an API key, or turn on Undo Takes Precedence.';
const fieldsChangedSince = 'Someone else has changed these fields since, or others that the service changes with them. Their values were kept.';
const deletedSince = 'Someone else has deleted the record since.';
const outdated = 'The service returned an earlier version of the record than the one in its log. Run the undo again.';
const logBehind = 'The service’s log is behind: the record was changed after the last change in the log. Run the undo again.';
const outOfSight = 'The service does not return this record: it is not visible to the credential, or erased.';
const maybeNotDeleted = 'The service does not show that the record was deleted: it may only be invisible to the credential.';
const notNamed = 'The service’s idempotency keys have no room to mark a re-created record, so a second undo would create it twice.';
const setByService = (names: string[]) => `Only fields that the service sets were changed: ${names.join(', ')}.`;
