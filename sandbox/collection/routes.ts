import { limitBody } from '../http/body.ts';
import type { Resource } from '../schemas/resource.ts';
import type { Service } from '../http/service.ts';
import type { Route } from '../http/route.ts';
import { actionRoutes } from './actions.ts';
import { recordAnswer } from '../records/answer.ts';
import { toResponse } from '../foundation/answer.ts';
import { batchRoutes } from './batch.ts';
import { filterFinder } from '../queries/custom-field-filters.ts';
import { listPage, pickFields } from '../queries/list.ts';
import { parseFields, parseListQuery } from '../queries/list-query.ts';
import { matchOnOf } from '../records/match.ts';
import { applyDueTransitions } from '../records/due-transitions.ts';
import { queryParameters, singleQueryValues } from '../http/query.ts';
import { answerWrite } from './requests.ts';
import { tagRoutes } from './tags.ts';
import { hasTags } from '../schemas/tags.ts';
import {
	createRecord,
	deleteRecord,
	existingRecord,
	updateRecord,
	upsertRecord,
} from '../records/write.ts';

/** Everything the service offers for one resource. */
export function collectionRoutes(service: Service, resource: Resource): Route[] {
	const { store } = service;
	const findFilter = filterFinder(store, resource);
	const path = `/v1/${resource.name}`;

	const list: Route['handler'] = async (c) => {
		const table = c.get('store').table(resource.name)!;
		const query = parseListQuery(resource, singleQueryValues(c), findFilter, store.accountKey);
		await applyDueTransitions(service);
		const page = await listPage(table, query, store.accountKey);
		return c.body(page, 200, { 'Content-Type': 'application/json' });
	};

	const get: Route['handler'] = async (c) => {
		const given = queryParameters(c, ['fields']);
		const fields = parseFields(resource, given.get('fields'));
		await applyDueTransitions(service);
		const record = existingRecord(c.get('store'), resource, c.req.param('id')!);
		const answer = recordAnswer(200, record);
		return toResponse({ ...answer, body: fields ? JSON.stringify(pickFields(record, fields)) : answer.body });
	};

	const create: Route['handler'] = (c) => {
		queryParameters(c, []);
		return answerWrite(service, resource, c, true, createRecord);
	};

	const upsert: Route['handler'] = (c) => {
		const matchOn = matchOnOf(queryParameters(c, ['match_on']));
		return answerWrite(service, resource, c, true, (writing, body) =>
			upsertRecord(writing, matchOn, body),
		);
	};

	const update: Route['handler'] = (c) => {
		queryParameters(c, []);
		const ifMatch = c.req.header('If-Match');
		return answerWrite(service, resource, c, true, (writing, body) =>
			updateRecord(writing, c.req.param('id')!, body, ifMatch),
		);
	};

	const remove: Route['handler'] = (c) => {
		queryParameters(c, []);
		const ifMatch = c.req.header('If-Match');
		return answerWrite(service, resource, c, false, (writing) =>
			deleteRecord(writing, c.req.param('id')!, ifMatch),
		);
	};

	return [
		{ method: 'GET', path, handler: list },
		{ method: 'POST', path, handler: create, middleware: limitBody },
		{ method: 'PUT', path, handler: upsert, middleware: limitBody },
		{ method: 'GET', path: `${path}/:id`, handler: get },
		{ method: 'PATCH', path: `${path}/:id`, handler: update, middleware: limitBody },
		{ method: 'DELETE', path: `${path}/:id`, handler: remove },
		...actionRoutes(service, resource),
		...(hasTags(resource) ? tagRoutes(service, resource) : []),
		...batchRoutes(service, resource),
	];
}
