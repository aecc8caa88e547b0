import { limitBody } from '../middleware/body.ts';
import type { Resource } from '../schemas/resource.ts';
import type { Service } from '../service.ts';
import type { Route } from '../router.ts';
import { actionRoutes } from './actions.ts';
import { recordAnswer, toResponse } from './answer.ts';
import { batchRoutes } from './batch.ts';
import { filterFinder } from './custom-fields.ts';
import { listPage, onlyFields } from './list.ts';
import { parseFields, parseListQuery } from './list-query.ts';
import { matchOnOf } from './match.ts';
import { catchUp } from './passing.ts';
import { queryOf, singleValues } from './query.ts';
import { answerWrite } from './requests.ts';
import { hasTags, tagRoutes } from './tags.ts';
import {
	createRecord,
	deleteRecord,
	existingRecord,
	updateRecord,
	upsertRecord,
} from './write.ts';

/** Everything the service offers for one resource. */
export function collectionRoutes(service: Service, resource: Resource): Route[] {
	const { store } = service;
	const findFilter = filterFinder(store, resource);
	const path = `/v1/${resource.name}`;

	const list: Route['handler'] = async (c) => {
		const table = c.get('store').table(resource.name)!;
		const query = parseListQuery(resource, singleValues(c), findFilter, store.accountKey);
		await catchUp(service);
		const page = await listPage(table, query, store.accountKey);
		return c.body(page, 200, { 'Content-Type': 'application/json' });
	};

	const get: Route['handler'] = async (c) => {
		const given = queryOf(c, ['fields']);
		const fields = parseFields(resource, given.get('fields'));
		await catchUp(service);
		const record = existingRecord(c.get('store'), resource, c.req.param('id')!);
		const answer = recordAnswer(200, record);
		return toResponse({ ...answer, body: fields ? JSON.stringify(onlyFields(record, fields)) : answer.body });
	};

	const create: Route['handler'] = (c) => {
		queryOf(c, []);
		return answerWrite(service, resource, c, true, createRecord);
	};

	const upsert: Route['handler'] = (c) => {
		const matchOn = matchOnOf(queryOf(c, ['match_on']));
		return answerWrite(service, resource, c, true, (writing, body) =>
			upsertRecord(writing, matchOn, body),
		);
	};

	const update: Route['handler'] = (c) => {
		queryOf(c, []);
		const ifMatch = c.req.header('If-Match');
		return answerWrite(service, resource, c, true, (writing, body) =>
			updateRecord(writing, c.req.param('id')!, body, ifMatch),
		);
	};

	const remove: Route['handler'] = (c) => {
		queryOf(c, []);
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
