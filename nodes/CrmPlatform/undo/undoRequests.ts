import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import { getOrCreate } from '../base/maps';
import { isAnsweredWith, isWebPage } from '../api/fetchRecord';
import { path as pathOf } from '../api/http/path';
import type { WriteDescription } from '../api/openapi/writing';
import { refusedRecord } from '../api/http/statuses';
import type { Execution } from '../model';
import { runAll } from '../schedule';
import { writeRecords } from '../writing/batches';
import { protectionOf, versionOf } from '../writing/replace';
import type { Write } from '../writing/writeOrder';
import { isObject } from '../base/json';
import { setField } from './changedField';
import type { Descriptions } from './planFields';
import type { FieldUndo, RecordUndo, UndoAction } from './recordUndo';

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
	descriptions: Descriptions,
	writes: UndoWrite[],
): Promise<{ answers: WriteAnswer[]; error?: Error }> {
	const answers: WriteAnswer[] = [];
	for (let start = 0; start < writes.length; ) {
		const { action, collection } = writes[start]!;
		let end = start + 1;
		while (writes[end]?.action === action && writes[end]?.collection === collection) end++;
		const group = writes.slice(start, end);
		const description = descriptions.get(collection)?.[action];
		if (!description || description.refusal !== undefined) {
			const refused = new Error(description?.refusal ?? `The CRM’s API cannot ${action} records of ${collection}. Undo this change by hand.`);
			answers.push(...group.map(() => ({ refused })));
		} else {
			const error = await sendGroup(execution, description, group, answers);
			if (error) return { answers, error };
		}
		start = end;
	}
	return { answers };
}

/** Tells the user if the service cannot prevent a plan from overwriting what others change meanwhile. */
export function warnIfUnprotected(execution: Execution, descriptions: Descriptions, undos: RecordUndo[]): void {
	const recordsByDescription = new Map<WriteDescription, IDataObject[]>();
	for (const { action, current, history } of undos) {
		const description = action && descriptions.get(history.collection)?.[action];
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
