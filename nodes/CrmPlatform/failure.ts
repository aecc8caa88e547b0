import { NodeApiError, NodeOperationError, type IDataObject, type IExecuteFunctions } from 'n8n-workflow';

import { type Connection, readableError } from './api/connection';
import { encodedPath, type Collection } from './api/http/path';
import { findRecord, recordName } from './api/record';
import { getOrCreate } from './base/maps';
import { listed } from './base/lists';

/** An error as n8n shows it. */
export type NodeFailure = NodeApiError | NodeOperationError;

/** Converts an error to the one that n8n shows, linked to its input item. */
export function nodeFailure(n8n: IExecuteFunctions, error: Error, item: number | undefined): NodeFailure {
	const isKnown = error instanceof NodeApiError || error instanceof NodeOperationError;
	const failure = isKnown ? error : new NodeOperationError(n8n.getNode(), readableError(error));
	failure.context.itemIndex ??= item;
	return failure;
}

/** Adds lines to the failure's description: n8n drops the hints of a node that fails. */
export function withLines(failure: NodeFailure, lines: string[]): NodeFailure {
	failure.description = [failure.description, ...lines].filter(Boolean).join('\n');
	return failure;
}

export interface ItemFailure {
	item: number;
	failure: NodeFailure;
}

/** What became of the other items, some of which may be written already. Items are numbered from 0, as in n8n. */
export function failureSummary(failures: ItemFailure[], done: number, count: number): string[] {
	const untried = count - done - failures.length;
	const reasons = reasonLines(failures);
	const numbers = reasons.length === 1 ? ` (item ${listed(failures.map(({ item }) => item))})` : '';
	const rest = untried > 0 ? ` ${untried} ${untried === 1 ? 'was' : 'were'} not tried.` : '';
	const summary = `Of ${count} items, ${done} succeeded and ${failures.length} failed${numbers}.${rest}`;
	const advice = done > 0 ? ' To get a result for each item, set On Error to Continue.' : '';
	return [summary + advice, ...(reasons.length > 1 ? reasons : [])];
}

/** The reasons for which items failed, each with the numbers of the items: `38 × Email: … (item 0, 3, …)`. */
export const reasonLines = (failures: ItemFailure[]): string[] =>
	countedReasons(failures.map(({ failure }) => failure.message)).map(({ count, message, indexes }) =>
		`${count} × ${message} (item ${listed(indexes.map((index) => failures[index]!.item))})`);

/** An output item with exactly these three members: n8n takes an item with no others for an error (n8n-core 2.41, handleNodeErrorOutput). */
export function failureJson({ message, description, context }: NodeFailure): IDataObject {
	const details = { description: description ?? '', ...(context.data as IDataObject) };
	return { error: message, message, details };
}

/** How often each reason occurs, and where, the 20 most frequent first. Reasons that differ only in the values they quote are one. */
export function countedReasons(messages: string[]): Array<{ count: number; message: string; indexes: number[] }> {
	const reasons = new Map<string, number[]>();
	for (const [index, message] of messages.entries()) getOrCreate(reasons, withoutValues(message), () => []).push(index);
	const sorted = [...reasons].sort(([, a], [, b]) => b.length - a.length).slice(0, 20);
	return sorted.map(([reason, indexes]) =>
		({ count: indexes.length, message: indexes.length === 1 ? messages[indexes[0]!]! : reason, indexes }));
}

export const withoutValues = (message: string): string => message.replace(/“[^”]*”/g, '“…”');

/** Maximum number of existing records that are read per execution: each costs a request. */
const maxRead = 10;

/** The names of existing records, by ID; undefined if they could not be read. */
const existingNames = new WeakMap<Connection, Map<string, string | undefined>>();

/** Adds the name of an existing record, if it can be read, to its ID in an error (`duplicate`): an ID means nothing to people. */
export async function withRecordName(api: Connection, failure: NodeFailure, collectionOf: () => Collection): Promise<NodeFailure> {
	const { existing_id: id } = (failure.context.data ?? {}) as { existing_id?: unknown };
	if (typeof id !== 'string' || id === '') return failure;
	const names = getOrCreate(existingNames, api, () => new Map<string, string | undefined>());
	if (!names.has(id) && names.size < maxRead) {
		const record = await findRecord(api, collectionOf() + encodedPath`/${id}`).catch(() => undefined);
		names.set(id, record && recordName(record));
	}
	const name = names.get(id);
	if (name === undefined) return failure;
	const withName = (text: string) => text.replaceAll(id, () => `${name} (${id})`);
	failure.message = withName(failure.message);
	failure.description = withName(failure.description ?? '');
	return failure;
}
