import { Problem, type ProblemBody, validationFailed } from '../../core/foundation/problem.ts';
import { type BulkOperation, targetSchema } from '../../core/schemas/batch.ts';
import type { ResponseData } from '../../core/foundation/response-data.ts';
import { parseInput } from '../../core/foundation/field-errors.ts';
import { isObject, type JsonObject, omit } from '../../core/foundation/json.ts';
import { createRecord, deleteRecord, updateRecord, upsertRecord } from './write.ts';
import type { WriteContext } from '../../core/store/write-context.ts';

/** The operation that a batch or a job applies to each of its items. */
export interface Bulk {
	operation: BulkOperation;
	/** Set only for an upsert. */
	matchOn: string | undefined;
}

/** The outcome of one item. */
export interface ItemResult {
	/** The position of the item, from 0. */
	index: number;
	/** The HTTP status that a single request for this record would have. */
	status: number;
	/** The id of the record; null if the item neither names nor creates a record. */
	id: string | null;
	/** The written record as JSON; absent after a deletion. */
	data?: string;
	/** JSON Pointers are relative to the item. */
	error?: ProblemBody;
}

/**
 * Writes one item, completely or not at all. A refused item is a result, not an exception.
 *
 * @throws Error only for a fault of the service
 */
export function writeItem(
	context: WriteContext,
	bulk: Bulk,
	item: unknown,
	index: number,
	requestId: string,
): ItemResult {
	try {
		const { status, body, id } = context.store.unrestricted.transaction(() => {
			if (isObject(item)) return applyItem(context, bulk, item);
			throw validationFailed([{ pointer: '', code: 'invalid_type', detail: 'An item must be a JSON object.' }]);
		});
		if (body === null) return { index, status, id: idNamed(bulk, item) };
		return { index, status, id: id!, data: body };
	} catch (error) {
		if (!(error instanceof Problem)) throw error;
		return { index, status: error.status, id: idNamed(bulk, item), error: error.body(requestId) };
	}
}

/** Serializes a result, reusing the JSON of the record. */
export function resultJson({ data, error, ...outcome }: ItemResult): string {
	const rest = error ? `,"error":${JSON.stringify(error)}` : data ? `,"data":${data}` : '';
	return `${JSON.stringify(outcome).slice(0, -1)}${rest}}`;
}

function applyItem(context: WriteContext, { operation, matchOn }: Bulk, item: JsonObject): ResponseData {
	switch (operation) {
		case 'create':
			return createRecord(context, item);
		case 'upsert':
			return upsertRecord(context, matchOn!, item, undefined);
		case 'update': {
			const { id, ifMatch } = parseTarget(targetSchema, { id: item['id'], version: item['version'] });
			const change = omit(item, 'id', 'version');
			return updateRecord(context, id, change, ifMatch);
		}
		case 'delete': {
			const { id, ifMatch } = parseTarget(targetSchema.strict(), item);
			return deleteRecord(context, id, ifMatch);
		}
	}
}

/**
 * Reads which record an item addresses, and the If-Match that a single request would have.
 *
 * @throws Problem validation_failed
 */
function parseTarget(schema: typeof targetSchema, item: JsonObject) {
	const { id, version } = parseInput(schema, item, 'The item does not identify its record.');
	return { id, ifMatch: version === undefined ? undefined : `"${version}"` };
}

function idNamed({ operation }: Bulk, item: unknown): string | null {
	const namesOne = operation === 'update' || operation === 'delete';
	return namesOne && isObject(item) && typeof item['id'] === 'string' ? item['id'] : null;
}
