import { requireRightsStill } from '../access/authentication.ts';
import { limitBody } from '../http/body.ts';
import { queryParameters, singleQueryValues } from '../http/query.ts';
import type { ApiRoute } from '../http/route.ts';
import type { Service } from '../http/service.ts';
import { toResponse } from '../foundation/answer.ts';
import { filterFinder } from '../queries/custom-field-filters.ts';
import { listPage, pickFields } from '../queries/list.ts';
import { parseFields, parseListQuery } from '../queries/list-query.ts';
import { recordAnswer } from '../records/answer.ts';
import { applyDueTransitions, applyOwnTransitions } from '../records/due-transitions.ts';
import { matchOnOf } from '../records/match.ts';
import {
	createRecord,
	deleteRecord,
	existingRecord,
	existingTable,
	updateRecord,
	upsertRecord,
} from '../records/write.ts';
import { resources } from '../schemas/index.ts';
import type { Resource } from '../schemas/resource.ts';
import { actionRoutes } from './actions.ts';
import { batchRoutes } from './batch.ts';
import { customObjectRoutes } from './custom-objects.ts';
import {
	createOperation,
	deleteOperation,
	getOperation,
	inBulk,
	inJob,
	listOperation,
	updateOperation,
	upsertOperation,
} from './operations.ts';
import { answerWrite } from './requests.ts';
import { tagRoutes } from './tags.ts';

/** Every route of every resource, the records of custom objects included. */
export const collectionRoutes = (service: Service): ApiRoute[] =>
	[recordRoutes, actionRoutes, tagRoutes, batchRoutes].flatMap((routesOf) => [
		...resources.flatMap((resource) => routesOf(service, resource)),
		...customObjectRoutes(service, routesOf),
	]);

/** The routes that read the records of one resource. */
export function readRoutes(service: Service, resource: Resource): { list: ApiRoute; get: ApiRoute } {
	const { store } = service;
	const findFilter = filterFinder(store, resource);
	const path = `/v1/${resource.name}`;

	const list: ApiRoute['handler'] = async (c) => {
		const query = parseListQuery(resource, singleQueryValues(c), findFilter, store.accountKey);
		applyDueTransitions(service);
		const tableNow = () => {
			requireRightsStill(service, c);
			return existingTable(c.get('store'), resource);
		};
		const page = await listPage(tableNow, query, store.accountKey);
		return c.body(page, 200, { 'Content-Type': 'application/json' });
	};

	const get: ApiRoute['handler'] = (c) => {
		const given = queryParameters(c, ['fields']);
		const fields = parseFields(resource, given.get('fields'));
		applyDueTransitions(service);
		const id = c.req.param('id')!;
		applyOwnTransitions(service, resource, id);
		const record = existingRecord(c.get('store'), resource, id);
		const answer = recordAnswer(200, record);
		return toResponse({ ...answer, body: fields ? JSON.stringify(pickFields(record, fields)) : answer.body });
	};

	return {
		list: { method: 'GET', path, handler: list, operation: () => listOperation(resource) },
		get: { method: 'GET', path: `${path}/{id}`, handler: get, operation: () => getOperation(resource) },
	};
}

/** The routes that read and write the records of one resource, one at a time. */
function recordRoutes(service: Service, resource: Resource): ApiRoute[] {
	const { list, get } = readRoutes(service, resource);

	const create: ApiRoute['handler'] = (c) => {
		queryParameters(c, []);
		return answerWrite(service, resource, c, true, createRecord);
	};

	const upsert: ApiRoute['handler'] = (c) => {
		const matchOn = matchOnOf(queryParameters(c, ['match_on']));
		const ifMatch = c.req.header('If-Match');
		return answerWrite(service, resource, c, true, (writing, body) =>
			upsertRecord(writing, matchOn, body, ifMatch),
		);
	};

	const update: ApiRoute['handler'] = (c) => {
		queryParameters(c, []);
		const ifMatch = c.req.header('If-Match');
		return answerWrite(service, resource, c, true, (writing, body) =>
			updateRecord(writing, c.req.param('id')!, body, ifMatch),
		);
	};

	const remove: ApiRoute['handler'] = (c) => {
		queryParameters(c, []);
		const ifMatch = c.req.header('If-Match');
		return answerWrite(service, resource, c, false, (writing) =>
			deleteRecord(writing, c.req.param('id')!, ifMatch),
		);
	};

	return [
		{ ...list, operation: () => ({ ...list.operation(), ...inJob(resource, 'export') }) },
		{
			method: 'POST',
			path: list.path,
			handler: create,
			middleware: limitBody,
			operation: () => ({ ...createOperation(resource), ...inBulk(resource, 'create') }),
		},
		{
			method: 'PUT',
			path: list.path,
			handler: upsert,
			middleware: limitBody,
			operation: () => ({ ...upsertOperation(resource), ...inBulk(resource, 'upsert') }),
		},
		get,
		{
			method: 'PATCH',
			path: get.path,
			handler: update,
			middleware: limitBody,
			operation: () => ({ ...updateOperation(resource), ...inBulk(resource, 'update') }),
		},
		{
			method: 'DELETE',
			path: get.path,
			handler: remove,
			operation: () => ({ ...deleteOperation(resource), ...inBulk(resource, 'delete') }),
		},
	];
}
