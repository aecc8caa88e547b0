import { z } from 'zod/v4';
import { limitBatchBody } from '../http/body.ts';
import { Problem } from '../../core/foundation/problem.ts';
import { type ApiRoute, endpoint } from '../endpoint/endpoint.ts';
import { success } from '../endpoint/responses.ts';
import { batchSchema, bulkOperations, maxBatchSize } from '../../core/schemas/batch.ts';
import { batchOperationId, capital, namesOf } from '../../core/schemas/names.ts';
import type { Resource } from '../../core/schemas/resource.ts';
import type { Service } from '../../core/service.ts';
import type { ResponseData } from '../../core/foundation/response-data.ts';
import { parseInput } from '../../core/foundation/field-errors.ts';
import { type Bulk, type ItemResult, resultJson, writeItem } from '../../domain/records/batch-items.ts';
import { matchOnQuery, requireUniqueMatchOn } from '../../domain/records/match.ts';
import type { JsonObject } from '../../core/foundation/json.ts';
import { respondToWrite } from './respond-to-write.ts';
import type { WriteContext } from '../../core/store/write-context.ts';

/** The routes that write many records of one resource at once. */
export function batchRoutes(service: Service, resource: Resource): ApiRoute[] {
	const { Singular, plural } = namesOf(resource);
	return bulkOperations.map((operation) => {
		const isUpsert = operation === 'upsert';
		return endpoint({
			method: 'POST',
			path: `/v1/${resource.name}/batch/${operation}`,
			id: batchOperationId(operation, resource),
			tag: resource.name,
			summary: `${isUpsert ? 'Create or update' : capital(operation)} many ${plural}`,
			description:
				'Counts as one request and takes one idempotency key. Every item has its own result, in ' +
				'the same order; error pointers are relative to the item. A failed item does not affect ' +
				'the others, unless atomic is true: then nothing is written, and the others have status 424.',
			query: isUpsert ? matchOnQuery(resource) : z.object({}),
			body: `${Singular}Batch${capital(operation)}`,
			middleware: limitBatchBody,
			responses: { 207: success('The result of each item.', `${Singular}BatchResult`) },
			handle(c, { match_on: matchOn }: { match_on?: string }) {
				const bulk = { operation, matchOn };
				const requestId = c.get('requestId');
				return respondToWrite(service, resource, c, (context, body) => batchResponse(context, bulk, body, requestId));
			},
		});
	});
}

/**
 * Processes a batch item by item and reports a status for each (RFC 4918, 11.1).
 *
 * @throws Problem validation_failed, invalid_parameter, if the batch as a whole is invalid
 */
function batchResponse(context: WriteContext, bulk: Bulk, body: JsonObject, requestId: string): ResponseData {
	const { store, resource } = context;
	if (bulk.matchOn !== undefined) requireUniqueMatchOn(store, resource, bulk.matchOn);
	const detail = `Send items, a list of 1 to ${maxBatchSize}, and optionally atomic, true or false.`;
	const { items, atomic } = parseInput(batchSchema, body, detail);
	const results = store.unrestricted.transaction(
		() => items.map((item, index) => writeItem(context, bulk, item, index, requestId)),
		(written) => !atomic || written.every(isSuccess),
	);
	const isUndone = atomic && !results.every(isSuccess);
	const reported = isUndone ? results.map((result) => undone(result, results, requestId)) : results;
	const succeeded = reported.filter(isSuccess).length;
	const summary = { total: reported.length, succeeded, failed: reported.length - succeeded };
	return {
		status: 207,
		headers: { 'Content-Type': 'application/json' },
		body: `{"results":[${reported.map(resultJson).join()}],"summary":${JSON.stringify(summary)}}`,
	};
}

/** The result of an item of a batch that was rolled back: its own error, or that another item failed. */
function undone(result: ItemResult, all: ItemResult[], requestId: string): ItemResult {
	const { index, error } = result;
	if (!error) {
		const first = all.findIndex((other) => !isSuccess(other));
		const problem = new Problem('failed_dependency', `Nothing was written, because item ${first} failed.`);
		const id = result.status === 201 ? null : result.id;
		return { index, status: problem.status, id, error: problem.body(requestId) };
	}
	// The conflicting record was rolled back as well, so the error names the item that created it.
	const { existing_id: existing, ...rest } = error;
	const creator = all.find(({ status, id }) => status === 201 && id === existing);
	if (!creator) return result;
	const detail = `Item ${creator.index} of this batch already has this value.`;
	const errors = error.errors.map((fieldError) => ({ ...fieldError, detail }));
	return { ...result, error: { ...rest, detail, errors } };
}

const isSuccess = ({ error }: ItemResult): boolean => error === undefined;
