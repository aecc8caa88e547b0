import type { IDataObject } from 'n8n-workflow';

import { isAnsweredWith, isNotFound } from '../api/fetchRecord';
import { outdatedVersion } from '../api/http/statuses';
import { idText, isObject, scalarsIn } from '../base/json';
import { ownMember, pointerSteps } from '../base/ownMembers';
import type { Reason } from '../api/http/problemBody';
import { allCustomFields, customFieldPrefix } from '../fields/field';
import { fieldValue, hasField } from './changedField';
import { allKept, type FieldUndo, type RecordUndo } from './recordUndo';
import { hasNoValue } from './sameValue';
import type { WriteAnswer } from './undoRequests';

/** Returns the outcome of an undo, according to the service's answer to its write. */
export function afterWrite(undo: RecordUndo, answer: WriteAnswer): RecordUndo {
	if ('refused' in answer) return afterRefusal(undo, answer.refused);
	if (undo.action === 'update') return afterUpdate(undo, answer.record);
	const newId = undo.action === 'create' ? idText(answer.record.id) : undefined;
	return newId === undefined ? undo : { ...undo, newId };
}

function afterRefusal(undo: RecordUndo, refused: Error): RecordUndo {
	if (undo.storedOtherwise) return reportStoredOtherwise(undo, undo.storedOtherwise);
	const { action, ...rest } = { ...undo, changes: allKept(undo.changes) };
	if (isNotFound(refused)) {
		return action === 'delete'
			? { ...rest, result: 'already_so', reason: 'The record is gone, or no longer visible to the credential.' }
			: { ...rest, result: 'conflict', reason: 'Someone else deleted the record while the undo ran.' };
	}
	if (isAnsweredWith(refused, outdatedVersion)) {
		return { ...rest, result: 'conflict', reason: 'Someone else changed the record while the undo ran. Nothing was overwritten.' };
	}
	const { code, existing_id: existingId } = refusalDetails(refused);
	const holder = idText(existingId);
	const isDuplicate = code === 'duplicate';
	const nextAttempt = withoutRefusedValues(undo, refused);
	return {
		...rest,
		...(isDuplicate && { isDuplicate: true as const, ...(holder !== undefined && { holder }) }),
		...(nextAttempt && { nextAttempt }),
		result: 'cannot_be_undone',
		reason: isDuplicate && action === 'update' ? duplicateValue : ['The CRM refused it:', ...textsOfRefusal(refused)].join(' '),
	};
}

/**
 * Compares what the service has stored with what it was sent: a service that changes fields together may have
 * applied one of them to the other. These values are sent once more, and reported if they differ again.
 */
function afterUpdate(undo: RecordUndo, record: IDataObject): RecordUndo {
	const differing = undo.changes
		.filter(({ field, to, kept }) => !kept && hasField(record, field) && !isStored(fieldValue(record, field), to))
		.map(({ field }) => field);
	if (differing.length === 0) return undo;
	if (undo.storedOtherwise) return reportStoredOtherwise(undo, differing);
	return { ...undo, nextAttempt: { ...undo, current: record, storedOtherwise: differing } };
}

function reportStoredOtherwise(undo: RecordUndo, fields: string[]): RecordUndo {
	const changes = undo.changes.map((change): FieldUndo => (fields.includes(change.field) ? { ...change, kept: true } : change));
	const message = `The CRM stored other values than the previous ones in ${fields.join(', ')}. Check the record.`;
	return { ...undo, changes, reason: [undo.reason, message].filter(Boolean).join(' '), result: 'cannot_be_undone' };
}

/** Whether a value was stored as sent. The service may add empty members, and may reorder a list of links. */
function isStored(storedValue: unknown, sentValue: unknown): boolean {
	if (hasNoValue(sentValue)) return hasNoValue(storedValue);
	if (Array.isArray(sentValue)) return Array.isArray(storedValue) && isListStored(storedValue, sentValue);
	if (isObject(sentValue)) {
		return isObject(storedValue) && Object.entries(sentValue).every(([name, value]) => isStored(ownMember(storedValue, name), value));
	}
	return storedValue === sentValue;
}

function isListStored(storedList: unknown[], sentList: unknown[]): boolean {
	const hasObjects = [...sentList, ...storedList].some((entry) => typeof entry === 'object');
	const comparable = (list: unknown[]) => (hasObjects ? list : [...list].sort());
	const [storedEntries, sentEntries] = [comparable(storedList), comparable(sentList)];
	return storedList.length === sentList.length && sentEntries.every((entry, i) => isStored(storedEntries[i], entry));
}

/** Removes the values that the service refused by name from an undo; undefined if it named none, or if nothing is left. */
function withoutRefusedValues(undo: RecordUndo, refused: Error): RecordUndo | undefined {
	const { code, errors } = refusalDetails(refused);
	const reasons = Array.isArray(errors) ? (errors as Reason[]) : [];
	const namedFields = new Set(reasons.flatMap(({ pointer }) => (pointer === undefined ? [] : [fieldNameIn(pointer)])));
	// The service may store a unique value in two fields: the main address, and the list of all.
	const isTaken = ({ field, to }: FieldUndo) => code === 'duplicate' && namedFields.has(field) && typeof to === 'string';
	const takenValues = new Set(undo.changes.filter(isTaken).map(({ to }) => to));
	const omittedFields: string[] = [];
	const changes = undo.changes.map((change): FieldUndo => {
		const { field, to, kept } = change;
		if (!kept && (namedFields.has(field) || scalarsIn(to).some((scalar) => takenValues.has(scalar)))) {
			omittedFields.push(field);
			return { ...change, kept: true };
		}
		// A record that is created has all custom fields in one change.
		const omittedKeys = field === allCustomFields && isObject(to) ? Object.keys(to).filter((key) => namedFields.has(customFieldPrefix + key)) : [];
		if (omittedKeys.length === 0) return change;
		omittedFields.push(...omittedKeys.map((key) => customFieldPrefix + key));
		return { ...change, to: Object.fromEntries(Object.entries(to as IDataObject).filter(([key]) => !omittedKeys.includes(key))) };
	});
	if (omittedFields.length === 0 || changes.every(({ kept }) => kept)) return undefined;
	const message = `The CRM refused ${omittedFields.join(', ')}; the other values were restored.`;
	const reason = [undo.reason, message, ...textsOfRefusal(refused)].filter(Boolean).join(' ');
	return { ...undo, changes, reason, result: 'cannot_be_undone' };
}

/** The name of the field in a pointer (RFC 6901), as events name it. */
function fieldNameIn(pointer: string): string {
	const [first = '', second] = pointerSteps(pointer.replace(/^#?\/?items\/\d+(?=\/)/, ''));
	return first === allCustomFields && second !== undefined ? customFieldPrefix + second : first;
}

/** The members of the problem (RFC 9457) that the service reported. */
const refusalDetails = (refused: Error): IDataObject => ((refused as { context?: IDataObject }).context?.data ?? {}) as IDataObject;

/** The service's message without advice about a form, which an undo does not have. */
function textsOfRefusal(refused: Error): string[] {
	const { message, description } = refused as { message: string; description?: string | null };
	const lines = (description ?? '').split('\n').filter((line) => line !== '' && !formAdvice.test(line));
	return [message, ...lines];
}

const formAdvice = /^(To change .* instead, use Create or Update\.|Correct th(e|at) .*)$/;
const duplicateValue = 'Another record now has one of the previous values, which must be unique.';
