import { z } from 'zod/v4';
import { type ApiRoute, type Endpoint, endpoint } from '../endpoint/endpoint.ts';
import { filterParameter } from '../endpoint/filter-parameters.ts';
import { queryParametersOf } from '../endpoint/parameters.ts';
import { noContent, pageResponse, success } from '../endpoint/responses.ts';
import type { Service, Env } from '../../core/service.ts';
import { listResponse, toResponse } from '../../core/foundation/response-data.ts';
import { customFieldListTypes, customFieldOperators, filterFinder } from '../../domain/queries/custom-field-filters.ts';
import { requireScope } from '../../domain/access/authentication.ts';
import { eraseRecords } from '../../domain/access/scopes.ts';
import { filtersOf } from '../../domain/queries/filters.ts';
import { fieldsQuery, listPage, listQueryOf, parseListQuery, pickFields } from '../../domain/queries/list-query.ts';
import { recordResponse } from '../../core/store/records/record-json.ts';
import { applyDueTransitions } from '../../domain/records/due-transitions.ts';
import { matchOnQuery } from '../../domain/records/match.ts';
import {
	createRecord,
	deleteRecord,
	eraseRecord,
	existingRecord,
	existingTable,
	updateRecord,
	upsertRecord,
	tagIdsOf,
	takeAction,
} from '../../domain/records/write.ts';
import type { BulkOperation } from '../../core/schemas/batch.ts';
import { customFields, maxCustomFields } from '../../core/schemas/custom-fields.ts';
import { resources } from '../../core/schemas/index.ts';
import type { jobOperations } from '../../core/schemas/jobs.ts';
import { batchOperationId, namesOf } from '../../core/schemas/names.ts';
import { hasCustomFields, type Resource, actionInput } from '../../core/schemas/resource.ts';
import { batchRoutes } from './batch-routes.ts';
import { respondToBodylessWrite, respondToWrite } from './respond-to-write.ts';
import { hasTags, tags } from '../../core/schemas/tags.ts';
import type { Context } from 'hono';
import { getOrCreate } from '../../core/foundation/json.ts';
import { Problem } from '../../core/foundation/problem.ts';
import { anyRecords, recordsName } from '../../core/schemas/custom-objects.ts';

/** Every route of every resource, including the records of custom objects. */
export const collectionRoutes = (service: Service): ApiRoute[] =>
	[recordRoutes, actionRoutes, tagRoutes, batchRoutes].flatMap((routesOf) => [
		...resources.flatMap((resource) => routesOf(service, resource)),
		...customObjectRoutes(service, routesOf),
	]);

/** The endpoints that read the records of one resource. */
export const readEndpoints = (service: Service, resource: Resource) => ({
	list: listEndpoint(service, resource),
	get: getEndpoint(service, resource),
});

function listEndpoint(service: Service, resource: Resource): Endpoint {
	const { store } = service;
	const { Plural, Singular, plural } = namesOf(resource);
	const findFilter = filterFinder(store, resource);
	const isOpen = hasCustomFields(resource);
	return {
		method: 'GET',
		path: `/v1/${resource.name}`,
		id: `list${Plural}`,
		tag: resource.name,
		summary: `List ${plural}`,
		description:
			`Lists ${plural} page by page. For the next page, send next_cursor as cursor, with the same ` +
			'filters and sort.' +
			(isOpen
				? ' Filter by custom fields with `custom_fields.<key>`, or with an operator that ' +
					'`x-custom-field-filters` lists for their type, such as `custom_fields.<key>[gte]`. Those of a ' +
					'type in `x-custom-field-lists` take several values, separated by commas; one must match.'
				: ''),
		filters: () => [...queryParametersOf(listQueryOf(resource)), ...filtersOf(resource).map(filterParameter)],
		responses: { 200: pageResponse(`A page of ${plural}.`, `${Singular}List`, `list${Plural}`) },
		extensions: () =>
			isOpen
				? {
						'x-custom-fields': 'custom_fields.{key}',
						'x-custom-field-filters': customFieldOperators(),
						'x-custom-field-lists': customFieldListTypes(),
					}
				: {},
		handle(c, _, queryTexts) {
			const query = parseListQuery(resource, queryTexts, findFilter, store.accountKey);
			applyDueTransitions(service);
			const { data, cursor, total } = listPage(existingTable(c.get('store'), resource.name), query, store.accountKey);
			return listResponse(data, cursor, total);
		},
	};
}

function getEndpoint(service: Service, resource: Resource): Endpoint<z.ZodObject<ReturnType<typeof fieldsQuery>>> {
	const { Singular, singular, withArticle } = namesOf(resource);
	return {
		method: 'GET',
		path: `/v1/${resource.name}/{id}`,
		id: `get${Singular}`,
		tag: resource.name,
		summary: `Get ${withArticle}`,
		query: z.object(fieldsQuery(resource)),
		responses: { 200: success(`The ${singular}.`, Singular, 'ETag') },
		errors: [404],
		handle(c, { fields }) {
			applyDueTransitions(service);
			const record = existingRecord(c.get('store'), resource, c.req.param('id')!);
			const response = recordResponse(200, record);
			return toResponse({ ...response, body: fields ? JSON.stringify(pickFields(record, fields)) : response.body });
		},
	};
}

/** The endpoints that write the records of one resource, one at a time. */
export function writeEndpoints(service: Service, resource: Resource) {
	const { Singular, singular, withArticle } = namesOf(resource);
	const tag = resource.name;
	const path = `/v1/${resource.name}`;
	const updated = { 200: success(`The updated ${singular}.`, Singular, 'ETag') };
	const created = { 201: success(`The new ${singular}.`, Singular, 'ETag', 'Location') };

	const create: Endpoint = {
		method: 'POST',
		path,
		id: `create${Singular}`,
		tag,
		summary: `Create ${withArticle}`,
		body: `${Singular}Create`,
		responses: created,
		handle: (c) => respondToWrite(service, resource, c, createRecord),
	};

	const upsert: Endpoint<ReturnType<typeof matchOnQuery>> = {
		method: 'PUT',
		path,
		id: `upsert${Singular}`,
		tag,
		summary: `Create or update ${withArticle}`,
		description: `Updates the ${singular} with the same value in the field match_on, or creates one.`,
		query: matchOnQuery(resource),
		body: `${Singular}Upsert`,
		ifMatch: true,
		responses: { ...updated, ...created },
		handle: (c, { match_on: matchOn }) =>
			respondToWrite(service, resource, c, (context, body) =>
				upsertRecord(context, matchOn, body, c.req.header('If-Match')),
			),
	};

	const update: Endpoint = {
		method: 'PATCH',
		path: `${path}/{id}`,
		id: `update${Singular}`,
		tag,
		summary: `Update ${withArticle}`,
		body: `${Singular}Update`,
		ifMatch: true,
		responses: updated,
		handle: (c) =>
			respondToWrite(service, resource, c, (context, body) =>
				updateRecord(context, c.req.param('id')!, body, c.req.header('If-Match')),
			),
	};

	return { create, upsert, update, remove: deleteEndpoint(service, resource) };
}

const permanentQuery = z.object({
	permanent: z.boolean().default(false).meta({
		description:
			`Whether to erase the record: its values, also in events, responses and results of jobs, cannot be restored. This needs ${eraseRecords}.`,
	}),
});

function deleteEndpoint(service: Service, resource: Resource): Endpoint<typeof permanentQuery> {
	const { Singular, singular, withArticle } = namesOf(resource);
	return {
		method: 'DELETE',
		path: `/v1/${resource.name}/{id}`,
		id: `delete${Singular}`,
		tag: resource.name,
		summary: `Delete ${withArticle}`,
		...(hasCustomFields(resource) && { query: permanentQuery }),
		ifMatch: true,
		responses: { 204: noContent(`The ${singular} is deleted.`) },
		async handle(c, { permanent = false }) {
			if (permanent) requireScope(c, eraseRecords);
			const response = await respondToBodylessWrite(service, resource, c, (context) => {
				const deletion = permanent ? eraseRecord : deleteRecord;
				return deletion(context, c.req.param('id')!, c.req.header('If-Match'));
			});
			if (permanent) service.store.checkpoint();
			return response;
		},
	};
}

/** The routes that read and write the records of one resource, one at a time. */
function recordRoutes(service: Service, resource: Resource): ApiRoute[] {
	const { list, get } = readEndpoints(service, resource);
	const { create, upsert, update, remove } = writeEndpoints(service, resource);
	const limits = resource.name === customFields.name && {
		description: `A record type has at most ${maxCustomFields} custom fields.`,
		'x-limits': { custom_fields: maxCustomFields },
	};
	return [
		endpoint({ ...list, extensions: () => ({ ...list.extensions?.(), ...inJob(resource, 'export') }) }),
		endpoint({ ...create, extensions: () => ({ ...limits, ...inBulk(resource, 'create') }) }),
		endpoint({ ...upsert, extensions: () => inBulk(resource, 'upsert') }),
		endpoint(get),
		endpoint({ ...update, extensions: () => inBulk(resource, 'update') }),
		endpoint({ ...remove, extensions: () => inBulk(resource, 'delete') }),
	];
}

/** Refers to the job that does the same in the background, in the form of a Link Object. */
const inJob = (resource: Resource, operation: (typeof jobOperations)[number]) => ({
	'x-job': { operationId: 'createJob', parameters: { resource: resource.name, operation } },
});

/** Refers to the batch and the job that do the same with many records. */
const inBulk = (resource: Resource, operation: BulkOperation) => ({
	'x-batch': batchOperationId(operation, resource),
	...inJob(resource, operation),
});

/** The routes of a resource's actions: what can be done with a record besides setting its fields. */
function actionRoutes(service: Service, resource: Resource): ApiRoute[] {
	const { Singular, singular } = namesOf(resource);
	return Object.entries(resource.actions ?? {}).map(([name, action]) => endpoint({
		method: 'POST',
		path: `/v1/${resource.name}/{id}/${name}`,
		id: `${name}${Singular}`,
		tag: resource.name,
		summary: action.summary,
		description: action.description,
		body: actionInput(action),
		ifMatch: true,
		responses: { 200: success(`The changed ${singular}.`, Singular, 'ETag') },
		handle(c) {
			// The body may be absent if the action requires no input.
			const hasBody = c.req.header('Content-Type') !== undefined;
			const respond = hasBody ? respondToWrite : respondToBodylessWrite;
			return respond(service, resource, c, (context, body) => {
				const ifMatch = c.req.header('If-Match');
				const record = takeAction(context, c.req.param('id')!, action, body, ifMatch);
				return recordResponse(200, record);
			});
		},
	}));
}

/** The routes that add a tag to a record and remove it; none if the records have no tags. */
function tagRoutes(service: Service, resource: Resource): ApiRoute[] {
	if (!hasTags(resource)) return [];
	const { Singular, singular, withArticle } = namesOf(resource);
	const tagEndpoint = (
		method: 'PUT' | 'DELETE',
		id: string,
		summary: string,
		retag: (ids: string[], tagId: string) => string[],
	): ApiRoute =>
		endpoint({
			method,
			path: `/v1/${resource.name}/{id}/tags/{tag_id}`,
			id,
			summary,
			tag: resource.name,
			ifMatch: true,
			responses: { 200: success(`The ${singular} with its tags.`, Singular, 'ETag') },
			handle: (c) =>
				respondToBodylessWrite(service, resource, c, (context) => {
					const { store } = context;
					const recordId = c.req.param('id')!;
					const ids = tagIdsOf(existingRecord(store, resource, recordId));
					const tag = existingRecord(store, tags, c.req.param('tag_id')!);
					const change = { tag_ids: retag(ids, tag.id) };
					return updateRecord(context, recordId, change, c.req.header('If-Match'));
				}),
		});
	return [
		tagEndpoint('PUT', `tag${Singular}`, `Add a tag to ${withArticle}`, (ids, tag) => [...new Set([...ids, tag])]),
		tagEndpoint('DELETE', `untag${Singular}`, `Remove a tag from ${withArticle}`, (ids, tag) => ids.filter((id) => id !== tag)),
	];
}

/**
 * The routes of the records of custom objects. Objects are known only at run time, so each request
 * is passed to the route of the resource that is derived from the object's definition.
 *
 * @param routesOf creates the routes of one resource; they are in the same order for every object
 */
function customObjectRoutes(service: Service, routesOf: (service: Service, resource: Resource) => ApiRoute[]): ApiRoute[] {
	const routesByResource = new WeakMap<Resource, ApiRoute[]>();
	const routesFor = (c: Context<Env>): ApiRoute[] => {
		const key = c.req.param('key')!;
		const resource = service.store.table(recordsName(key))?.resource;
		if (!resource) throw new Problem('not_found', `There is no custom object ${key}.`);
		return getOrCreate(routesByResource, resource, () => routesOf(service, resource));
	};
	return routesOf(service, anyRecords).map((route, i) => ({ ...route, handler: (c) => routesFor(c)[i]!.handler(c) }));
}
