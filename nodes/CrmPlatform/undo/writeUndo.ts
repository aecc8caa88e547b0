import { randomUUID } from 'node:crypto';

import type { IDataObject } from 'n8n-workflow';

import { isAnsweredWith, isWebPage } from '../api/fetchRecord';
import { path as pathOf } from '../api/http/path';
import type { ResourceDescription } from '../api/openapi/description';
import type { WriteDescription } from '../api/openapi/writing';
import { refusedRecord } from '../api/http/statuses';
import type { Sliced, Execution, Run } from '../model';
import { runAll } from '../schedule';
import { writeRecords } from '../writing/batches';
import { protectionOf, versionOf } from '../writing/replace';
import type { Write } from '../writing/writeOrder';
import { formerValues } from './formerValues';
import type { UndoAction, Undoing } from './undoing';

interface UndoWrite {
	action: UndoAction;
	collection: string;
	/** The record to change; absent for one to create. */
	record?: IDataObject;
	body?: IDataObject;
	/** The deletion that is undone. */
	deletion?: string;
}

/** The record as it was answered, or why the service refused the write. */
export type UndoOutcome = { record: IDataObject } | { refused: Error };

/** Where the writes of a kind of record are described. */
export type Describe = (collection: string) => ResourceDescription | undefined;

/** The write that undoes something. */
export function undoWriteOf(undo: Undoing): UndoWrite | undefined {
	const { history: { collection, deletion }, action, current } = undo;
	if (action === undefined) return undefined;
	if (action === 'delete') return { action, collection, record: current! };
	if (action === 'update') return { action, collection, record: current!, body: formerValues(undo) };
	return { action, collection, deletion: deletion!.event, body: formerValues(undo) };
}

/**
 * Does writes of one kind, as everything that writes does: in batches, under keys and versions. A creation goes
 * alone, under a key that names the deletion, so that the log tells which record was created for which.
 *
 * @returns the outcomes in their order, up to the first error that is not a refusal of one record
 */
export async function sendWrites(execution: Execution, describe: Describe, writes: UndoWrite[]): Promise<{ outcomes: UndoOutcome[]; error?: Error }> {
	const outcomes: UndoOutcome[] = [];
	for (let from = 0; from < writes.length; ) {
		const { action, collection } = writes[from]!;
		let to = from + 1;
		while (writes[to]?.action === action && writes[to]?.collection === collection) to++;
		const group = writes.slice(from, to);
		const description = describe(collection)?.[action];
		if (!description || description.refusal !== undefined) {
			const refused = new Error(description?.refusal ?? `The service does not offer to ${action} records of ${collection}.`);
			outcomes.push(...group.map(() => ({ refused })));
		} else {
			const error = await sendGroup(execution, description, group, outcomes);
			if (error) return { outcomes, error };
		}
		from = to;
	}
	return { outcomes };
}

/** The deletions that go with the first request. */
export function firstRequestOf(wave: Undoing[], describe: Describe): Undoing[] {
	const collection = wave[0]?.history.collection ?? '';
	const batch = describe(collection)?.delete?.batch;
	return wave.filter(({ history }) => history.collection === collection).slice(0, batch?.takesVersion ? batch.maximum : 1);
}

/** Tells the user where the service cannot keep the writes of a plan from overwriting what others change meanwhile. */
export function tellProtection(execution: Execution, describe: Describe, planned: Undoing[]): void {
	const groups = new Map<WriteDescription, IDataObject[]>();
	for (const { action, current, history } of planned) {
		const description = action && describe(history.collection)?.[action];
		if (!description || !current) continue;
		const records = groups.get(description) ?? [];
		records.push(current);
		groups.set(description, records);
	}
	for (const [description, records] of groups) protectionOf(execution, description, records);
}

async function sendGroup(execution: Execution, description: WriteDescription, group: UndoWrite[], outcomes: UndoOutcome[]): Promise<Error | undefined> {
	const { n8n, identity, operation } = execution;
	const [{ action }] = group as [UndoWrite];
	// An attempt plans again, and must not repeat the keys of an earlier one.
	const freshExecution: Execution = { ...execution, operation: { ...operation, options: [] }, identity: { ...identity, run: randomUUID() } };
	const onRefusal = (error: Error) => (isRefusal(error) ? ({ refused: error } as unknown as IDataObject) : error);
	const inBatches = () =>
		writeRecords(freshExecution, description, (index) => requestOf(group[index]!), (record): IDataObject => ({ record }), {
			count: group.length,
			...protectionOf(execution, description, group.map(({ record }) => record)),
			onRefusal,
		});
	const alone = async (write: UndoWrite) => {
		const keyed: Execution = { ...freshExecution, identity: { ...freshExecution.identity, deletion: write.deletion! } };
		const run = writeRecords(keyed, description, () => requestOf(write), (record): IDataObject => ({ record }), { count: 1, onRefusal }) as Run;
		return await run(0);
	};
	const each: Sliced = { size: 1, assemble: ([index = 0]) => ({ records: new Set(), send: async () => [await alone(group[index]!)] }) };
	const plan = action === 'create' ? each : inBatches();
	const signal = n8n.getExecutionCancelSignal();
	for await (const done of runAll(plan, group.length, (results) => !signal?.aborted && !results.some((result) => result instanceof Error))) {
		for (const { result } of done) {
			if (result instanceof Error) return result;
			outcomes.push(result as unknown as UndoOutcome);
		}
	}
	return signal?.aborted ? new Error('The execution was canceled') : undefined;
}

function requestOf({ collection: place, record, body }: UndoWrite): Write {
	const collection = `/v1${place}`;
	const id = record && String(record.id);
	const version = versionOf(record);
	return {
		collection,
		path: id === undefined ? collection : collection + pathOf`/${id}`,
		...(id !== undefined && { id, before: record! }),
		...(version !== undefined && { version }),
		...(body && { body }),
	};
}

/** Whether an error is about the one record: the next one may succeed. */
const isRefusal = (error: Error): boolean => isAnsweredWith(error, ...refusedRecord) && !isWebPage(error);
