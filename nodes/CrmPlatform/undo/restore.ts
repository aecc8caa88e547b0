import type { IDataObject } from 'n8n-workflow';

import { isObject } from '../api/http/json';
import { namedValuesOf, setByName, topOf, valueByName } from './changedField';
import { createdInPlaceOf, type Current, type Living } from './currentRecords';
import { withoutOwn } from './fieldHistory';
import { withForms } from './equivalentFields';
import { partOfRecord, type RecordHistory } from './recordHistory';
import { hasSameValue, isEmpty } from './sameValue';
import type { UndoneChange, Undoing } from './recordUndo';
import type { Writable } from './writableFields';

export interface UndoRules {
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

type Decided = (result: Undoing['result'], reason?: string) => Undoing;

export function restoreRecord(outcome: Decided, history: RecordHistory, rules: UndoRules, found: IDataObject | undefined, record: IDataObject | undefined): Undoing {
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
	const theirs = withForms(theirsOf(history, can), history, can);
	for (const [name, field] of fields) {
		const now = valueByName(values, name);
		if (can.isSet(name) && Array.isArray(now) && field.theirsAt !== undefined) setByName(values, name, withoutOwn(now, field, (value) => value, rules.takesPrecedence).list);
		else if (!theirs.has(name)) setByName(values, name, field.before);
	}
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
	const changes = keptTogether(changed, theirsOf(history, can), history, can);
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

/**
 * The fields that someone else has changed since, or another form of whose value since the first of the workflow's
 * changes. In a list of records, each entry is judged by itself.
 */
function theirsOf(history: RecordHistory, can: Writable): string[] {
	const { fields } = history;
	const changed = [...fields].flatMap(([name, { theirsAt }]) => (theirsAt === undefined || can.isSet(name) ? [] : [{ name, theirsAt }]));
	const among = changed.flatMap(({ name, theirsAt }) =>
		[...withForms([name], history, can)].filter((other) => !can.isSet(other) && theirsAt > (fields.get(other)?.begin ?? Infinity)),
	);
	return [...new Set([...[...fields].flatMap(([name, { isTheirs }]) => (isTheirs ? [name] : [])), ...among])];
}

/** Keeps with each kept field those that the service changes with it. */
function keptTogether(changes: UndoneChange[], theirs: string[], history: RecordHistory, can: Writable): UndoneChange[] {
	const keptFields = withForms([...theirs, ...changes.flatMap((change) => (change.kept ? [change.field] : []))], history, can);
	return changes.map((change) => (keptFields.has(change.field) ? { ...change, kept: true } : change));
}

export function restoreFields(outcome: Decided, history: RecordHistory, { writable, takesPrecedence, renamed }: UndoRules, record: IDataObject): Undoing {
	const can = writable(history);
	const writableFields = [...history.fields].filter(([name]) => can.isChanged(topOf(name)));
	// An undo has created it in place of another, and nothing has changed it since.
	if (history.fields.size === 0) return outcome('already_so', hasValues);
	if (writableFields.length === 0) return outcome('cannot_be_undone', setByService([...history.fields.keys()]));
	const theirs = theirsOf(history, can);
	const merged = new Map<string, unknown[]>();
	const changed = writableFields.flatMap(([field, values]): UndoneChange[] => {
		const [from, before] = [valueByName(record, field) ?? null, renamed(values.before)];
		const isChangedSince = theirs.includes(field) || !hasSameValue(from, renamed(values.after));
		const isMixed = isChangedSince || values.theirsAt !== undefined;
		const part = isMixed && can.isSet(field) && Array.isArray(from) ? withoutOwn(from, values, renamed, takesPrecedence) : undefined;
		if (part) merged.set(field, part.list);
		const to = part?.list ?? before;
		// Others have decided about all that the workflow has changed of the list.
		if (part?.isKept && hasSameValue(from, to)) return [{ field, from, to: withoutOwn(from as unknown[], values, renamed, true).list, kept: true }];
		if (hasSameValue(from, to)) return [];
		const isKept = isChangedSince && !part && !takesPrecedence;
		return [{ field, from, to, ...(isKept && { kept: true as const }) }];
	});
	// The one that comes first in a list of records cannot come back without its entry.
	const isTakenOut = ({ field, to }: UndoneChange) => isLink(to) && [...(history.forms?.get(field) ?? [])].some((list) => merged.get(list)?.includes(to) === false);
	const fitting = changed.map((change): UndoneChange => (isTakenOut(change) && !takesPrecedence ? { ...change, kept: true } : change));
	const changes = keptTogether(fitting, [], history, can);
	const isConflict = changes.some(({ kept }) => kept);
	const isWritten = changes.some(({ kept }) => !kept);
	if (!isConflict && !isWritten) return { ...outcome('already_so', hasValues), current: record };
	return {
		...outcome(isConflict ? 'conflict' : 'undone', isConflict ? fieldsChangedSince : undefined),
		changes,
		current: record,
		...(isWritten && { action: 'update' as const }),
	};
}

const isLink = (value: unknown): boolean => typeof value === 'string' || typeof value === 'number';

const withoutNulls = (value: IDataObject): IDataObject => Object.fromEntries(Object.entries(value).filter(([, member]) => member !== null));

const hasValues = 'The record already has its earlier values.';
const createdAnew = (id: string) => `It was created again as ${id}.`;
const anewDiffers = (id: string) => `It was created again as ${id}. Its values differ from those before the changes, and were kept.`;
const anewIsGone = (id: string) => `It was created again as ${id}, which has been deleted since.`;
export const existsAgain = 'The record was deleted, but exists again.';
const fieldsChangedSince = 'Someone else has since changed these fields, or fields that the service changes with them. The current values were kept.';
const maybeNotDeleted = 'The service does not show that the record was deleted: it may only be invisible to the credential.';
const notNamed = 'The service’s idempotency keys have no room to mark a re-created record, so a second undo would create it twice.';
const setByService = (names: string[]) => `Only fields that the service sets were changed: ${names.join(', ')}.`;
