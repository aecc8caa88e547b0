import { idempotencyKeyParameter, ifMatchParameter } from '../description/parameters.ts';
import { requestBody } from '../description/schemas.ts';
import { errors, noContent, pageResponse, success, writeErrors } from '../description/responses.ts';
import type { Operation } from '../http/operation.ts';
import { customFieldListTypes, customFieldOperators } from '../queries/custom-field-filters.ts';
import type { BulkOperation } from '../schemas/batch.ts';
import { customFields, maxCustomFields } from '../schemas/custom-fields.ts';
import type { jobOperations } from '../schemas/jobs.ts';
import { batchOperationId, namesOf } from '../schemas/names.ts';
import { hasCustomFields, type Resource } from '../schemas/resource.ts';
import { fieldsParameter, listParameters, matchOnParameter } from './parameters.ts';

/** Of a path with the key of a custom object: the account may have no such object. */
export const pathErrors = ({ name }: Resource): number[] => (name.includes('{') ? [404] : []);

/** The job that does the same in the background, referred to as a Link Object does. */
export const inJob = (resource: Resource, operation: (typeof jobOperations)[number]) => ({
	'x-job': { operationId: 'createJob', parameters: { resource: resource.name, operation } },
});

/** The batch and the job that do the same to many records. */
export const inBulk = (resource: Resource, operation: BulkOperation) => ({
	'x-batch': batchOperationId(operation, resource),
	...inJob(resource, operation),
});

export function listOperation(resource: Resource): Operation {
	const { Many, One, many } = namesOf(resource);
	return {
		operationId: `list${Many}`,
		tags: [resource.name],
		summary: `List ${many}`,
		description:
			`Lists ${many} page by page. For the next page, send next_cursor as cursor, with the same ` +
			'filters and sort.' +
			(hasCustomFields(resource)
				? ' Filter by custom fields with `custom_fields.<key>`, or with an operator that ' +
					'`x-custom-field-filters` lists for their type, such as `custom_fields.<key>[gte]`. Those of a ' +
					'type in `x-custom-field-lists` take several values, separated by commas; one must match.'
				: ''),
		parameters: listParameters(resource),
		responses: {
			200: pageResponse(`A page of ${many}.`, `${One}List`, `list${Many}`),
			...errors(400, ...pathErrors(resource)),
		},
		...(hasCustomFields(resource) && {
			'x-custom-fields': 'custom_fields.{key}',
			'x-custom-field-filters': customFieldOperators(),
			'x-custom-field-lists': customFieldListTypes(),
		}),
	};
}

export function getOperation(resource: Resource): Operation {
	const { One, one, aOne } = namesOf(resource);
	return {
		operationId: `get${One}`,
		tags: [resource.name],
		summary: `Get ${aOne}`,
		parameters: [fieldsParameter(resource)],
		responses: {
			200: success(`The ${one}.`, One, 'ETag'),
			...errors(400, 404),
		},
	};
}

export function createOperation(resource: Resource): Operation {
	const { One, one, aOne } = namesOf(resource);
	return {
		operationId: `create${One}`,
		tags: [resource.name],
		summary: `Create ${aOne}`,
		...(resource.name === customFields.name && {
			description: `A kind of record has at most ${maxCustomFields} custom fields.`,
			'x-limits': { custom_fields: maxCustomFields },
		}),
		parameters: [idempotencyKeyParameter],
		requestBody: requestBody(`${One}Create`),
		responses: {
			201: success(`The new ${one}.`, One, 'ETag', 'Location', 'Idempotent-Replayed'),
			...errors(...pathErrors(resource), ...writeErrors),
		},
	};
}

export function upsertOperation(resource: Resource): Operation {
	const { One, one, aOne } = namesOf(resource);
	return {
		operationId: `upsert${One}`,
		tags: [resource.name],
		summary: `Create or update ${aOne}`,
		description: `Updates the ${one} with the same value in the field match_on, or creates one.`,
		parameters: [matchOnParameter(resource), ifMatchParameter, idempotencyKeyParameter],
		requestBody: requestBody(`${One}Upsert`),
		responses: {
			200: success(`The updated ${one}.`, One, 'ETag', 'Idempotent-Replayed'),
			201: success(`The new ${one}.`, One, 'ETag', 'Location', 'Idempotent-Replayed'),
			...errors(412, ...pathErrors(resource), ...writeErrors),
		},
	};
}

export function updateOperation(resource: Resource): Operation {
	const { One, one, aOne } = namesOf(resource);
	return {
		operationId: `update${One}`,
		tags: [resource.name],
		summary: `Update ${aOne}`,
		parameters: [ifMatchParameter, idempotencyKeyParameter],
		requestBody: requestBody(`${One}Update`),
		responses: {
			200: success(`The updated ${one}.`, One, 'ETag', 'Idempotent-Replayed'),
			...errors(404, 412, ...writeErrors),
		},
	};
}

export function deleteOperation(resource: Resource): Operation {
	const { One, one, aOne } = namesOf(resource);
	return {
		operationId: `delete${One}`,
		tags: [resource.name],
		summary: `Delete ${aOne}`,
		parameters: [ifMatchParameter, idempotencyKeyParameter],
		responses: {
			204: noContent(`The ${one} is deleted.`, 'Idempotent-Replayed'),
			...errors(400, 404, 409, 412, 422),
		},
	};
}
