import { z } from 'zod/v4';
import { filterParameter } from './endpoint/filter-parameters.ts';
import { type ApiRoute, endpoint } from './endpoint/endpoint.ts';
import { pageResponse, success } from './endpoint/responses.ts';
import { type Filter, valueFilters, filterCondition } from '../domain/queries/filters.ts';
import { decodeCursor, encodeCursor, listFingerprint, pageParameters } from '../domain/queries/list-query.ts';
import { applyDueTransitions } from '../domain/records/due-transitions.ts';
import { invalidParameter, Problem, unknownParameter } from '../core/foundation/problem.ts';
import type { Service } from '../core/service.ts';
import { listResponse } from '../core/foundation/response-data.ts';
import { pointInTime } from '../core/schemas/fields.ts';
import { type Condition, equals } from '../core/store/records/condition.ts';
import { keysetCondition } from '../core/store/records/record-reader.ts';
import { eventJson, eventTypesIn, explainPattern, readableWith, typeCondition } from '../domain/events/event-types.ts';

/** The filters of the event log, besides the type. */
const eventFilters: readonly Filter[] = [
	...valueFilters('sequence', 'sequence', z.int().min(0).meta({ title: 'Sequence' })),
	...valueFilters('created_at', 'created_at', pointInTime.meta({ title: 'The time of the event' })),
];

/** Maximum number of types or patterns in a request, the same as for a webhook. */
const maxPatterns = 100;

const eventQuery = z.object({
	...pageParameters,
	sort: z.enum(['sequence', '-sequence']).default('sequence').meta({
		description: 'Order of the events: oldest first, or newest first with a minus sign.',
	}),
	type: z.array(z.string().meta({ examples: ['contact.*'] })).max(maxPatterns).optional().meta({
		description: 'Event types to include, or patterns such as contact.*.',
	}),
});

const json = { 'Content-Type': 'application/json' };

const path = '/v1/events';

const listEvents = (service: Service): ApiRoute =>
	endpoint({
		method: 'GET',
		path,
		id: 'listEvents',
		tag: 'events',
		summary: 'List events',
		description:
			'Lists the events of the last 30 days, page by page and oldest first by default. To ' +
			'continue later, filter by sequence[gt] with the sequence of the last event received. An ' +
			'access token gets the events of resources that it may read, for records that its user ' +
			'could see when they happened.',
		query: eventQuery,
		filters: () => eventFilters.map(filterParameter),
		responses: { 200: pageResponse('A page of events.', 'EventList', 'listEvents') },
		handle(c, { cursor, limit, sort, type = [] }, queryTexts) {
			const descending = sort === '-sequence';
			const conditions = [
				...readableWith(c.get('scopes')),
				...typeConditions(service, type),
				...filterConditions(queryTexts),
			];
			const fingerprint = listFingerprint('events', descending, conditions);
			const after = cursor === undefined ? undefined : decodeCursor(service.store.accountKey, cursor, fingerprint);
			const order = [{ column: 'sequence', descending }];
			const cursorConditions = after === undefined ? [] : [keysetCondition(order, after)];
			bringLogUpToDate(service);
			const { events } = c.get('store');
			const found = events.page([...conditions, ...cursorConditions], limit + 1, descending);
			const page = found.slice(0, limit);
			const next = found.length > limit ? encodeCursor(service.store.accountKey, [page.at(-1)!.sequence], fingerprint) : null;
			return listResponse(page.map(eventJson), next, events.count(conditions));
		},
	});

const getEvent = (service: Service): ApiRoute =>
	endpoint({
		method: 'GET',
		path: `${path}/{id}`,
		id: 'getEvent',
		tag: 'events',
		summary: 'Get an event',
		responses: { 200: success('The event.', 'Event') },
		handle(c) {
			const id = c.req.param('id')!;
			bringLogUpToDate(service);
			const [event] = c.get('store').events.page([...readableWith(c.get('scopes')), equals('id', id)], 1);
			if (event) return c.body(eventJson(event), 200, json);
			throw new Problem('not_found', `There is no event ${id}. Events are kept for 30 days.`);
		},
	});

/** The routes of the event log, which holds the events of the last 30 days in sequence. */
export const eventRoutes = (service: Service): ApiRoute[] => [listEvents(service), getEvent(service)];

/** Applies the transitions that are due, which cause events, and removes events that have expired. */
function bringLogUpToDate(service: Service): void {
	applyDueTransitions(service);
	service.store.events.expire(service.now());
}

function filterConditions(queryTexts: Map<string, string>): Condition[] {
	const others = [...queryTexts].filter(([name]) => !Object.hasOwn(eventQuery.shape, name));
	return others.map(([name, text]) => {
		const filter = eventFilters.find(({ parameter }) => parameter === name);
		if (!filter) throw unknownParameter(name);
		return filterCondition(filter, text);
	});
}

function typeConditions({ store }: Service, patterns: string[]): Condition[] {
	const eventTypes = eventTypesIn(store);
	for (const pattern of patterns) {
		const problem = explainPattern(pattern, eventTypes);
		if (problem !== undefined) throw invalidParameter('type', problem);
	}
	return patterns.length > 0 ? [typeCondition(patterns)] : [];
}
