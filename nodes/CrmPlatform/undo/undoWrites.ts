import { randomUUID } from 'node:crypto';
import type { IDataObject } from 'n8n-workflow';

import { isAnsweredWith, isNotFound, isWebPage } from '../api/record';
import { path as pathOf } from '../api/http/path';
import type { Reason } from '../api/http/errorWords';
import { outdatedVersion, refusedRecord } from '../api/http/statuses';
import type { WriteDescription } from '../api/openapi/writing';
import { idText, isObject } from '../base/json';
import { getOrCreate } from '../base/maps';
import { ownMember, pointerSteps } from '../base/ownMembers';
import { exactBody } from '../fields/exactBody';
import { allCustomFields, customFieldPrefix } from '../fields/field';
import type { Execution, Write } from '../model';
import { runAll } from '../schedule';
import { writeRecords } from '../writing/batches';
import { protectionOf, versionOf } from '../writing/replace';
import { fieldValue, hasField, hasNoValue, setField } from './fieldValues';
import { allKept, type FieldUndo, type RecordUndo, type UndoAction } from './recordUndo';
import type { FieldsByCollection, UndoFields } from './undoFields';

interface UndoWrite {
	action: UndoAction;
	collection: string;
	/** The record to change or delete; absent for a record to create. */
	record?: IDataObject;
	body?: IDataObject;
	/** Id of the event of the deletion that is undone. */
	deletion?: string;
}

/** The service's answer to a write: the record, or a refusal. */
export type WriteAnswer = { record: IDataObject } | { refused: Error };

/** Returns the write that carries out an undo, if there is one. */
export function writeFor(undo: RecordUndo): UndoWrite | undefined {
	const { history: { collection, deletion }, action, current } = undo;
	if (action === undefined) return undefined;
	if (action === 'delete') return { action, collection, record: current! };
	const restored = undo.changes.filter(({ kept }) => !kept);
	if (action === 'update') return { action, collection, record: current!, body: patchFor(restored) };
	const body = Object.fromEntries(restored.map(({ field, to }) => [field, to])) as IDataObject;
	return { action, collection, deletion: deletion!.event, body };
}

/** Numbers that the log has as text, as they would lose digits otherwise, are sent as numbers again. */
const exactly = (group: UndoWrite[], fields: FieldsByCollection): UndoWrite[] =>
	group.map((write) => {
		const { action, collection, body } = write;
		return action === 'delete' || !body ? write : { ...write, body: exactBody(fields.get(collection)?.writtenFields(action) ?? [], body) };
	});

/** The merge patch (RFC 7396) that restores the previous values. */
function patchFor(changes: FieldUndo[]): IDataObject {
	const patch: IDataObject = {};
	for (const { field, from, to } of changes) setField(patch, field, patchedValue(from, to));
	return patch;
}

/** The service merges objects, so members that the previous value lacks have to be cleared. */
function patchedValue(from: unknown, to: unknown): unknown {
	if (!isObject(to) || !isObject(from)) return to ?? null;
	const clearedMembers = Object.keys(from).filter((name) => !Object.hasOwn(to, name)).map((name) => [name, null]);
	const restoredMembers = Object.entries(to).map(([name, value]) => [name, patchedValue(from[name], value)]);
	return Object.fromEntries([...clearedMembers, ...restoredMembers]);
}

/**
 * Sends writes as every operation does: in batches, under idempotency keys and versions. A creation is sent alone,
 * under a key that names the deletion, so that the log shows which record was created for which.
 *
 * @returns the answers in the order of the writes, up to the first error that does not concern just one record
 */
export async function sendUndoWrites(
	execution: Execution,
	fields: FieldsByCollection,
	writes: UndoWrite[],
): Promise<{ answers: WriteAnswer[]; error?: Error }> {
	const answers: WriteAnswer[] = [];
	for (let start = 0; start < writes.length; ) {
		const { action, collection } = writes[start]!;
		let end = start + 1;
		while (writes[end]?.action === action && writes[end]?.collection === collection) end++;
		const group = writes.slice(start, end);
		const description = fields.get(collection)?.description?.[action];
		if (!description || description.refusal !== undefined) {
			const refused = new Error(description?.refusal ?? `The CRM’s API cannot ${action} records of ${collection}. Undo this change by hand.`);
			answers.push(...group.map(() => ({ refused })));
		} else {
			const error = await sendGroup(execution, description, exactly(group, fields), answers);
			if (error) return { answers, error };
		}
		start = end;
	}
	return { answers };
}

/** Tells the user if the service cannot prevent a plan from overwriting what others change meanwhile. */
export function warnIfUnprotected(execution: Execution, fields: FieldsByCollection, undos: RecordUndo[]): void {
	const recordsByDescription = new Map<WriteDescription, IDataObject[]>();
	for (const { action, current, history } of undos) {
		const description = action && fields.get(history.collection)?.description?.[action];
		if (!description || !current) continue;
		getOrCreate(recordsByDescription, description, () => []).push(current);
	}
	for (const [description, records] of recordsByDescription) protectionOf(execution, description, records);
}

/** Sends writes of one action to one collection. Appends their answers, and returns the error that stopped them, if any. */
async function sendGroup(
	execution: Execution,
	description: WriteDescription,
	group: UndoWrite[],
	answers: WriteAnswer[],
): Promise<Error | undefined> {
	const { identity, n8n } = execution;
	// A repeated undo makes another plan, and must not repeat the keys of an earlier one.
	const freshIdentity = { ...identity, run: randomUUID() };
	const freshExecution: Execution = { ...execution, identity: freshIdentity };
	const plan = writeRecords(freshExecution, description, (index) => requestOf(group[index]!), toAnswer, {
		areAlone: group[0]?.action === 'create',
		...protectionOf(execution, description, group.map(({ record }) => record)),
		onRefusal: refusalOrError,
	});
	const signal = n8n.getExecutionCancelSignal();
	const mayContinue = (results: unknown[]) => !signal?.aborted && !results.some((result) => result instanceof Error);
	for await (const finished of runAll(plan, group.length, mayContinue)) {
		for (const { result } of finished) {
			if (result instanceof Error) return result;
			answers.push(result as unknown as WriteAnswer);
		}
	}
	return signal?.aborted ? new Error('The execution was canceled') : undefined;
}

const toAnswer = (record: IDataObject): IDataObject => ({ record });

const refusalOrError = (error: Error) => (isRefusal(error) ? ({ refused: error } as unknown as IDataObject) : error);

/** Whether an error concerns just one record, so that the next write may succeed. */
const isRefusal = (error: Error): boolean => isAnsweredWith(error, ...refusedRecord) && !isWebPage(error);

function requestOf({ collection, record, body, deletion }: UndoWrite): Write {
	const collectionPath = `/v1${collection}`;
	const id = record && String(record.id);
	const version = versionOf(record);
	return {
		collection: collectionPath,
		path: id === undefined ? collectionPath : collectionPath + pathOf`/${id}`,
		...(id !== undefined && { id, before: record! }),
		...(version !== undefined && { version }),
		...(body && { body }),
		...(deletion !== undefined && { deletion }),
	};
}

/** Returns the outcome of an undo, according to the service's answer to its write. */
export function afterWrite(undo: RecordUndo, answer: WriteAnswer, fields?: UndoFields): RecordUndo {
	if ('refused' in answer) return afterRefusal(undo, answer.refused, fields);
	if (undo.action === 'update') return afterUpdate(undo, answer.record);
	const newId = undo.action === 'create' ? idText(answer.record.id) : undefined;
	return newId === undefined ? undo : { ...undo, newId };
}

function afterRefusal(undo: RecordUndo, refused: Error, fields: UndoFields | undefined): RecordUndo {
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
	const nextAttempt = withoutRefusedValues(undo, refused, fields);
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
function withoutRefusedValues(undo: RecordUndo, refused: Error, fields: UndoFields | undefined): RecordUndo | undefined {
	const { errors } = refusalDetails(refused);
	const reasons = Array.isArray(errors) ? (errors as Reason[]) : [];
	const namedFields = new Set(reasons.flatMap(({ pointer }) => (pointer === undefined ? [] : [fieldNameIn(pointer)])));
	// Without its place, such as its stage, the service would put the record elsewhere.
	if (undo.action === 'create' && [...namedFields].some((name) => fields?.isPlacement(name))) return undefined;
	const refusedFields = fields?.withDependents(namedFields) ?? namedFields;
	const omittedFields: string[] = [];
	const changes = undo.changes.map((change): FieldUndo => {
		const { field, to, kept } = change;
		if (!kept && refusedFields.has(field)) {
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
