import { limitBatchBody } from '../middleware/body.ts';
import { Problem } from '../problem.ts';
import type { Route } from '../router.ts';
import { batchSchema, bulkOperations, largestBatch } from '../schemas/batch.ts';
import type { Resource } from '../schemas/resource.ts';
import type { Service } from '../service.ts';
import type { Answer } from './answer.ts';
import { fieldErrors } from './explain.ts';
import { type Bulk, type ItemResult, resultJson, writeItem } from './items.ts';
import { matchOnOf, refuseOtherMatchOn } from './match.ts';
import type { JsonObject } from './merge.ts';
import { queryOf } from './query.ts';
import { answerWrite } from './requests.ts';
import type { Writing } from './writing.ts';

/** Many records of one resource at once. */
export const batchRoutes = (service: Service, resource: Resource): Route[] =>
	bulkOperations.map((operation) => ({
		method: 'POST',
		path: `/v1/${resource.name}/batch/${operation}`,
		middleware: limitBatchBody,
		handler(c) {
			const isUpsert = operation === 'upsert';
			const given = queryOf(c, isUpsert ? ['match_on'] : []);
			const bulk = { operation, matchOn: isUpsert ? matchOnOf(given) : undefined };
			const requestId = c.get('requestId');
			return answerWrite(service, resource, c, true, (writing, body) =>
				batchAnswer(writing, bulk, body, requestId),
			);
		},
	}));

/**
 * Does a batch, item by item, and tells what has become of each (RFC 4918, 11.1).
 *
 * @throws Problem validation_failed, invalid_parameter, if it is no batch at all
 */
function batchAnswer(writing: Writing, bulk: Bulk, body: JsonObject, requestId: string): Answer {
	const { store, resource } = writing;
	if (bulk.matchOn !== undefined) refuseOtherMatchOn(store, resource, bulk.matchOn);
	const { items, atomic } = parseBatch(body);
	const results = store.transactionOfParts(
		(part) => items.map((item, index) => writeItem(writing, part, bulk, item, index, requestId)),
		(tried) => !atomic || tried.every(isSuccess),
	);
	const isUndone = atomic && !results.every(isSuccess);
	const told = isUndone ? results.map((result) => undone(result, results, requestId)) : results;
	const succeeded = told.filter(isSuccess).length;
	const summary = { total: told.length, succeeded, failed: told.length - succeeded };
	return {
		status: 207,
		headers: { 'Content-Type': 'application/json' },
		body: `{"results":[${told.map(resultJson).join()}],"summary":${JSON.stringify(summary)}}`,
	};
}

function parseBatch(body: JsonObject) {
	const parsed = batchSchema.safeParse(body);
	if (parsed.success) return parsed.data;
	const detail = `A batch has items, a list of 1 to ${largestBatch}, and atomic, true or false.`;
	throw new Problem('validation_failed', detail, { errors: fieldErrors(parsed.error, body) });
}

/** What an item of a batch that was undone is told: why it failed, or that others did. */
function undone(result: ItemResult, all: ItemResult[], requestId: string): ItemResult {
	const { index, error } = result;
	if (!error) {
		const first = all.findIndex((other) => !isSuccess(other));
		const problem = new Problem('failed_dependency', `Nothing was done, because item ${first} failed.`);
		const id = result.status === 201 ? null : result.id;
		return { index, status: problem.status, id, error: problem.body(requestId) };
	}
	// The record in the way was undone as well, so only the item that made it can be named.
	const { existing_id: existing, ...rest } = error;
	const maker = all.find(({ status, id }) => status === 201 && id === existing);
	if (!maker) return result;
	const detail = `Item ${maker.index} of this batch has this value already.`;
	const errors = error.errors.map((one) => ({ ...one, detail }));
	return { ...result, error: { ...rest, detail, errors } };
}

const isSuccess = ({ error }: ItemResult): boolean => error === undefined;
