import { type BulkOperation, bulkOperations } from '../schemas/batch.ts';
import type { Resource } from '../schemas/resource.ts';
import { batchOperationId, capital, namesOf } from '../schemas/names.ts';
import { securityOf } from './oauth2.ts';
import { requestBody, pathErrors, writeErrors } from './operations.ts';
import { idempotencyKeyParameter, matchOnParameter, pathParameters } from './parameters.ts';
import { errors, success } from './responses.ts';

/** The batch paths of one resource. */
export const batchPaths = (resource: Resource): Record<string, unknown> =>
	Object.fromEntries(
		bulkOperations.map((operation) => [
			`/v1/${resource.name}/batch/${operation}`,
			{ post: batch(resource, operation) },
		]),
	);

function batch(resource: Resource, operation: BulkOperation) {
	const { One, many } = namesOf(resource);
	const isUpsert = operation === 'upsert';
	return {
		operationId: batchOperationId(operation, resource),
		tags: [resource.name],
		summary: `${isUpsert ? 'Create or update' : capital(operation)} many ${many}`,
		description:
			'Counts as one request and takes one idempotency key. Every item has a result of its own, ' +
			'in the same order; pointers in its errors are within the item. A failed item leaves the ' +
			'others alone, unless atomic is true: then nothing is done, and the others answer 424.',
		parameters: [
			...pathParameters(resource),
			...(isUpsert ? [matchOnParameter(resource)] : []),
			idempotencyKeyParameter,
		],
		requestBody: requestBody(`${One}Batch${capital(operation)}`),
		responses: {
			207: success('What has become of each item.', `${One}BatchResult`, 'Idempotent-Replayed'),
			...errors(...pathErrors(resource), ...writeErrors),
		},
		security: securityOf(resource.name, 'write'),
	};
}
