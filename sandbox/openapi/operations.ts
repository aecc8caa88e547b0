import { customFieldOperators } from '../queries/custom-field-filters.ts';
import { hasCustomFields, type Resource } from '../schemas/resource.ts';
import type { jobOperations } from '../schemas/jobs.ts';
import { batchOperationId, namesOf } from '../schemas/names.ts';
import { securityOf } from './oauth2.ts';
import {
	fieldsParameter,
	idempotencyKeyParameter,
	idParameter,
	ifMatchParameter,
	listParameters,
	matchOnParameter,
	pathParameters,
} from './parameters.ts';
import { errors, noContent, success } from './responses.ts';

/** What can go wrong with any request. */
export const commonErrors = [401, 403, 405, 408, 429, 431, 500, 503];
export const writeErrors = [400, 409, 413, 415, 422, ...commonErrors];

/** Beside that: which custom objects there are, the account decides. */
export const pathErrors = (resource: Resource): number[] =>
	pathParameters(resource).length > 0 ? [404] : [];

/** The paths of one resource. */
export function resourcePaths(resource: Resource): Record<string, unknown> {
	const path = `/v1/${resource.name}`;
	const writes = { security: securityOf(resource.name, 'write') };
	const ofPath = pathParameters(resource);
	/** The job that does the same in the background, as a Link Object names an operation. */
	const inJob = (operation: (typeof jobOperations)[number]) => ({
		'x-job': { operationId: 'createJob', parameters: { resource: resource.name, operation } },
	});
	return {
		[path]: {
			...(ofPath.length > 0 && { parameters: ofPath }),
			get: { ...listOperation(resource), ...inJob('export') },
			post: { ...createOperation(resource), ...inJob('create'), ...writes },
			put: { ...upsert(resource), ...inJob('upsert'), ...writes },
		},
		[`${path}/{id}`]: {
			parameters: [...ofPath, idParameter],
			get: { ...getOperation(resource), security: securityOf(resource.name, 'read') },
			patch: { ...updateOperation(resource), ...inJob('update'), ...writes },
			delete: { ...deleteOperation(resource), ...inJob('delete'), ...writes },
		},
	};
}

export function listOperation(resource: Resource) {
	const { Many, One, many } = namesOf(resource);
	return {
		operationId: `list${Many}`,
		tags: [resource.name],
		summary: `List ${many}`,
		description:
			`Lists ${many} page by page. Give next_cursor as cursor, with the same filters and sort, ` +
			'for the next page.' +
			(hasCustomFields(resource)
				? ' Custom fields filter as `custom_fields.<key>`, and with the operators that ' +
					'`x-custom-field-filters` names for their type, as `custom_fields.<key>[gte]`.'
				: ''),
		parameters: listParameters(resource),
		responses: {
			200: {
				...success(`A page of ${many}.`, `${One}List`),
				links: {
					next: {
						operationId: `list${Many}`,
						parameters: { cursor: '$response.body#/next_cursor' },
					},
				},
			},
			...errors(400, ...pathErrors(resource), ...commonErrors),
		},
		...(hasCustomFields(resource) && {
			'x-custom-fields': 'custom_fields.{key}',
			'x-custom-field-filters': customFieldOperators(),
		}),
		security: securityOf(resource.name, 'read'),
	};
}

export function getOperation(resource: Resource) {
	const { One, one, aOne } = namesOf(resource);
	return {
		operationId: `get${One}`,
		tags: [resource.name],
		summary: `Get ${aOne}`,
		parameters: [fieldsParameter(resource)],
		responses: {
			200: success(`The ${one}.`, One, 'ETag'),
			...errors(400, 404, ...commonErrors),
		},
	};
}

export function createOperation(resource: Resource) {
	const { One, one, aOne } = namesOf(resource);
	return {
		operationId: `create${One}`,
		tags: [resource.name],
		summary: `Create ${aOne}`,
		parameters: [idempotencyKeyParameter],
		requestBody: requestBody(`${One}Create`),
		responses: {
			201: success(`The new ${one}.`, One, 'ETag', 'Location', 'Idempotent-Replayed'),
			...errors(...pathErrors(resource), ...writeErrors),
		},
		'x-batch': batchOperationId('create', resource),
	};
}

function upsert(resource: Resource) {
	const { One, one, aOne } = namesOf(resource);
	return {
		operationId: `upsert${One}`,
		tags: [resource.name],
		summary: `Create or update ${aOne}`,
		description: `Updates the ${one} with the same value of the field match_on, or creates one.`,
		parameters: [matchOnParameter(resource), idempotencyKeyParameter],
		requestBody: requestBody(`${One}Upsert`),
		responses: {
			200: success(`The updated ${one}.`, One, 'ETag', 'Idempotent-Replayed'),
			201: success(`The new ${one}.`, One, 'ETag', 'Location', 'Idempotent-Replayed'),
			...errors(...pathErrors(resource), ...writeErrors),
		},
		'x-batch': batchOperationId('upsert', resource),
	};
}

export function updateOperation(resource: Resource) {
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
		'x-batch': batchOperationId('update', resource),
	};
}

export function deleteOperation(resource: Resource) {
	const { One, one, aOne } = namesOf(resource);
	return {
		operationId: `delete${One}`,
		tags: [resource.name],
		summary: `Delete ${aOne}`,
		parameters: [ifMatchParameter, idempotencyKeyParameter],
		responses: {
			204: noContent(`The ${one} is deleted.`, 'Idempotent-Replayed'),
			...errors(400, 404, 409, 412, 422, ...commonErrors),
		},
		'x-batch': batchOperationId('delete', resource),
	};
}

export const requestBody = (schema: string) => ({
	required: true,
	content: { 'application/json': { schema: { $ref: `#/components/schemas/${schema}` } } },
});
