import { refuseManyMembers } from '../middleware/body.ts';
import { Problem, type ProblemBody } from '../problem.ts';
import { type BulkOperation, targetSchema } from '../schemas/batch.ts';
import type { Answer } from './answer.ts';
import type { Part } from '../store/transactions.ts';
import { fieldErrors } from './explain.ts';
import { isObject, type JsonObject } from './merge.ts';
import { createRecord, deleteRecord, updateRecord, upsertRecord } from './write.ts';
import type { Writing } from './writing.ts';

/** What is done with each of many items. */
export interface Bulk {
	operation: BulkOperation;
	/** Of an upsert, and of nothing else. */
	matchOn: string | undefined;
}

/** What has become of one item. */
export interface ItemResult {
	/** Its place among the items, from 0. */
	index: number;
	/** What the same request for this record alone is answered with. */
	status: number;
	/** Of the record; null if the item names none and made none. */
	id: string | null;
	/** The record as it is now, as JSON, unless it was deleted. */
	data?: string;
	/** Pointers are within the item. */
	error?: ProblemBody;
}

/**
 * Does what one item asks for, whole or not at all. Only errors of the service are thrown.
 *
 * @param part of the transaction of all items
 */
export function writeItem(
	writing: Writing,
	part: Part,
	bulk: Bulk,
	item: unknown,
	index: number,
	requestId: string,
): ItemResult {
	try {
		const { status, body, id } = part(() => {
			if (!isObject(item)) throw notAnObject();
			refuseManyMembers(item);
			return effect(writing, bulk, item);
		});
		if (body === null) return { index, status, id: idNamed(bulk, item) };
		return { index, status, id: id!, data: body };
	} catch (error) {
		if (!(error instanceof Problem)) throw error;
		return { index, status: error.status, id: idNamed(bulk, item), error: error.body(requestId) };
	}
}

/** A result as JSON. The record is in it as it was serialized before. */
export function resultJson({ data, error, ...told }: ItemResult): string {
	const rest = error ? `,"error":${JSON.stringify(error)}` : data ? `,"data":${data}` : '';
	return `${JSON.stringify(told).slice(0, -1)}${rest}}`;
}

function effect(writing: Writing, { operation, matchOn }: Bulk, item: JsonObject): Answer {
	switch (operation) {
		case 'create':
			return createRecord(writing, item);
		case 'upsert':
			return upsertRecord(writing, matchOn!, item);
		case 'update': {
			const { id, ifMatch } = targetOf(targetSchema, item);
			const { id: _, version: __, ...change } = item;
			return updateRecord(writing, id, change, ifMatch);
		}
		case 'delete': {
			const { id, ifMatch } = targetOf(targetSchema.strict(), item);
			return deleteRecord(writing, id, ifMatch);
		}
	}
}

/**
 * The record an item is about, and what If-Match would be in a request of its own.
 *
 * @throws Problem validation_failed
 */
function targetOf(schema: typeof targetSchema, item: JsonObject) {
	const parsed = schema.safeParse(item);
	if (parsed.success) {
		const { id, version } = parsed.data;
		return { id, ifMatch: version === undefined ? undefined : `"${version}"` };
	}
	throw new Problem('validation_failed', 'The item does not say which record it is about.', {
		errors: fieldErrors(parsed.error, item),
	});
}

function idNamed({ operation }: Bulk, item: unknown): string | null {
	const namesOne = operation === 'update' || operation === 'delete';
	return namesOne && isObject(item) && typeof item['id'] === 'string' ? item['id'] : null;
}

function notAnObject(): Problem {
	const detail = 'An item has to be a JSON object.';
	return new Problem('validation_failed', detail, {
		errors: [{ pointer: '', code: 'invalid_type', detail }],
	});
}
