import type { IDataObject } from 'n8n-workflow';

import { isAnsweredWith, isNotFound } from '../api/fetchRecord';
import { idText, isObject } from '../api/http/json';
import { ownMember } from '../api/http/ownMembers';
import type { Reason } from '../api/http/problemBody';
import { outdatedVersion } from '../api/http/statuses';
import { hasByName, valueByName } from './changedField';
import { isEmpty } from './sameValue';
import type { UndoneChange, Undoing } from './undoing';
import type { UndoOutcome } from './writeUndo';

/** What became of a write. */
export function afterwards(undo: Undoing, outcome: UndoOutcome): Undoing {
	if ('record' in outcome) {
		if (undo.action === 'update') return asStored(undo, outcome.record);
		const newId = undo.action === 'create' ? idText(outcome.record.id) : undefined;
		return newId === undefined ? undo : { ...undo, newId };
	}
	const { refused } = outcome;
	if (undo.storedOtherwise) return reportStoredOtherwise(undo, undo.storedOtherwise);
	const keptChanges = undo.changes.map((change): UndoneChange => ({ ...change, kept: true }));
	const { action: _, ...rest } = { ...undo, changes: keptChanges };
	if (isNotFound(refused)) {
		return undo.action === 'delete' ? { ...rest, result: 'already_so', reason: 'The record is gone, or no longer visible to the credential.' } : { ...rest, result: 'conflict', reason: goneMeanwhile };
	}
	if (isAnsweredWith(refused, outdatedVersion)) return { ...rest, result: 'conflict', reason: changedMeanwhile };
	const { code, existing_id: holder } = detailsOf(refused);
	const isDuplicate = code === 'duplicate' && { isDuplicate: true as const, ...(typeof holder === 'string' && { holder }) };
	const part = withoutRefused(undo, refused);
	const reason = isDuplicate && undo.action === 'update' ? duplicate : ['The service refused it:', ...textsOfRefusal(refused)].join(' ');
	return { ...rest, ...isDuplicate, ...(part && { part }), result: 'cannot_be_undone', reason };
}

/**
 * Compares what the service has stored with what it was sent: a service that changes fields together may have
 * applied one of them to the other. They are written once more, and reported if they differ again.
 */
function asStored(undo: Undoing, record: IDataObject): Undoing {
	const differing = undo.changes
		.filter(({ field, to, kept }) => !kept && hasByName(record, field) && !isStored(valueByName(record, field), to))
		.map(({ field }) => field);
	if (differing.length === 0) return undo;
	if (undo.storedOtherwise) return reportStoredOtherwise(undo, differing);
	return { ...undo, part: { ...undo, current: record, storedOtherwise: differing } };
}

function reportStoredOtherwise(undo: Undoing, fields: string[]): Undoing {
	const changes = undo.changes.map((change): UndoneChange => (fields.includes(change.field) ? { ...change, kept: true } : change));
	const reason = [undo.reason, `The service stored other values than the earlier ones in ${fields.join(', ')}. Check the record.`].filter(Boolean).join(' ');
	return { ...undo, changes, reason, result: 'cannot_be_undone' };
}

/** Whether a value was stored. A service may add empty members, and may keep a list of links in a sequence of its own. */
function isStored(now: unknown, sentValue: unknown): boolean {
	if (isEmpty(sentValue)) return isEmpty(now);
	if (Array.isArray(sentValue)) {
		if (!Array.isArray(now) || now.length !== sentValue.length) return false;
		const hasParts = [...(sentValue as unknown[]), ...(now as unknown[])].some((entry) => typeof entry === 'object');
		const inOrder = (list: unknown[]) => (hasParts ? list : [...list].sort());
		const [is, was] = [inOrder(now as unknown[]), inOrder(sentValue as unknown[])];
		return was.every((entry, i) => isStored(is[i], entry));
	}
	if (isObject(sentValue)) return isObject(now) && Object.entries(sentValue).every(([name, value]) => isStored(ownMember(now, name), value));
	return now === sentValue;
}

/** The same without the values that the service refuses by name; undefined if it names none of them, or nothing is left. */
function withoutRefused(undo: Undoing, refused: Error): Undoing | undefined {
	const { code, errors } = detailsOf(refused);
	const named = new Set((Array.isArray(errors) ? (errors as Reason[]) : []).flatMap(({ pointer }) => (pointer === undefined ? [] : namesIn(pointer))));
	// The service may have a unique value in two fields: the main address, and the list of all.
	const takenValues = new Set(code === 'duplicate' ? undo.changes.flatMap(({ field, to }) => (named.has(field) && typeof to === 'string' ? [to] : [])) : []);
	const isNamed = ({ field, to, kept }: UndoneChange) => !kept && (named.has(field) || holds(to, takenValues));
	const left: string[] = [];
	const changes = undo.changes.flatMap((change): UndoneChange[] => {
		if (isNamed(change)) {
			left.push(change.field);
			return [{ ...change, kept: true }];
		}
		// A record that is created has its custom fields in one.
		const { field, to } = change;
		const keys = field === 'custom_fields' && isObject(to) ? Object.keys(to).filter((key) => named.has(`${field}.${key}`)) : [];
		if (keys.length === 0) return [change];
		left.push(...keys.map((key) => `${field}.${key}`));
		return [{ ...change, to: Object.fromEntries(Object.entries(to as IDataObject).filter(([key]) => !keys.includes(key))) }];
	});
	if (left.length === 0 || changes.every(({ kept }) => kept)) return undefined;
	const reason = [undo.reason, `The service refused ${left.join(', ')}; the other values were restored.`, ...textsOfRefusal(refused)].filter(Boolean).join(' ');
	return { ...undo, changes, reason, result: 'cannot_be_undone' };
}

const holds = (value: unknown, some: ReadonlySet<string>): boolean =>
	typeof value === 'string' ? some.has(value) : typeof value === 'object' && value !== null && Object.values(value).some((member) => holds(member, some));

/** The field that a pointer (RFC 6901) is about, by the names that changes give it. */
function namesIn(pointer: string): string[] {
	const steps = pointer.replace(/^#?\//, '').replace(/^items\/\d+\//, '').split('/').map((step) => step.replace(/~1/g, '/').replace(/~0/g, '~'));
	const [first = '', second] = steps;
	return first === 'custom_fields' && second !== undefined ? [`${first}.${second}`] : [first];
}

const detailsOf = (refused: Error): IDataObject => ((refused as { context?: IDataObject }).context?.data ?? {}) as IDataObject;

/** What the service says, without advice about a form that nobody has filled in. */
function textsOfRefusal(refused: Error): string[] {
	const { message, description } = refused as { message: string; description?: string | null };
	const lines = (description ?? '').split('\n').filter((line) => line !== '' && !forForms.test(line));
	return [message, ...lines];
}

const forForms = /^(To change .* instead, use Create or Update\.|Correct th(e|at) .*)$/;
const changedMeanwhile = 'Someone else changed the record while the undo ran. Nothing was overwritten.';
const goneMeanwhile = 'Someone else deleted the record while the undo ran.';
const duplicate = 'Another record now has one of the earlier values, which must be unique.';
