import type { Context } from 'hono';
import { z } from 'zod/v4';
import { requireRightsStill } from '../access/authentication.ts';
import { filterParameter } from '../description/filter-parameters.ts';
import { listParameter, pageParameters, pathParameter, queryParameter } from '../description/parameters.ts';
import { errors, pageResponse, success } from '../description/responses.ts';
import type { Operation } from '../http/operation.ts';
import { type Filter, valueFilters } from '../queries/filters.ts';
import { filterCondition } from '../queries/filter-conditions.ts';
import { decodeCursor, encodeCursor, listFingerprint } from '../queries/cursor.ts';
import { parseLimit } from '../queries/list-query.ts';
import { readSeen } from '../queries/read-seen.ts';
import { applyDueTransitions } from '../records/due-transitions.ts';
import { queryParameters } from '../http/query.ts';
import { invalidParameter, Problem } from '../foundation/problem.ts';
import type { ApiRoute } from '../http/route.ts';
import type { Env, Service } from '../http/service.ts';
import { pointInTime } from '../schemas/fields.ts';
import type { Condition } from '../store/condition.ts';
import { keysetCondition } from '../store/keyset.ts';
import type { StoreView } from '../store/visible-store.ts';
import { eventJson } from '../events/event-json.ts';
import { eventTypesIn, explainPattern } from '../events/types.ts';
import { readableWith, typeCondition } from '../events/conditions.ts';

/** The filters of the event log, besides the type. */
export const eventFilters: readonly Filter[] = [
	...valueFilters('sequence', 'sequence', z.int().min(0).meta({ title: 'Sequence' })),
	...valueFilters('created_at', 'created_at', pointInTime.meta({ title: 'The time of the event' })),
];

/** The most types or patterns in a request; as many as a webhook has. */
export const maxPatterns = 100;

/** The orders of the event log: oldest first, newest first. */
export const eventSorts = ['sequence', '-sequence'];

const json = { 'Content-Type': 'application/json' };

/** The routes of the event log, which holds the events of the last 30 days in sequence. */
export function eventRoutes(service: Service): ApiRoute[] {
	const path = '/v1/events';
	const { accountKey } = service.store;

	const list: ApiRoute['handler'] = async (c) => {
		const given = queryParameters(c, [
			'cursor',
			'limit',
			'sort',
			'type',
			...eventFilters.map(({ parameter }) => parameter),
		]);
		const limit = parseLimit(given.get('limit'));
		const descending = isDescending(given.get('sort'));
		const conditions = [
			...readableWith(c.get('scopes')),
			...typeConditions(service, given.get('type')),
			...eventFilters.flatMap((filter) => {
				const text = given.get(filter.parameter);
				return text === undefined ? [] : [filterCondition(filter, text, 'sequence')];
			}),
		];
		const fingerprint = listFingerprint('events', descending, conditions);
		const cursor = given.get('cursor');
		const after = cursor === undefined ? undefined : decodeCursor(accountKey, cursor, fingerprint);
		const order = [{ column: 'sequence', descending }];
		const beyond = after === undefined ? [] : [keysetCondition(order, after)];
		logOf(c);
		const eventsNow = () => {
			requireRightsStill(service, c);
			return c.get('store').events;
		};
		const read = (events: StoreView['events']) => events.list(conditions, beyond, limit, descending);
		const { events: page, hasMore, total } = await readSeen(eventsNow, read);
		const next = hasMore ? encodeCursor(accountKey, [page.at(-1)!.sequence], fingerprint) : null;
		const data = page.map(eventJson).join();
		return c.body(
			`{"data":[${data}],"next_cursor":${JSON.stringify(next)},"total":${total}}`,
			200,
			json,
		);
	};

	const get: ApiRoute['handler'] = (c) => {
		queryParameters(c, []);
		const id = c.req.param('id')!;
		const isIt = { sql: 'id = ?', values: [id] };
		const [event] = logOf(c).events.page([...readableWith(c.get('scopes')), isIt], 1);
		if (event) return c.body(eventJson(event), 200, json);
		throw new Problem('not_found', `There is no event ${id}. Events are kept for 30 days.`);
	};

	/** The log as the caller sees it, with what has become due by now. */
	const logOf = (c: Context<Env>) => {
		applyDueTransitions(service);
		service.store.events.expire(service.now());
		return c.get('store');
	};

	return [
		{ method: 'GET', path, handler: list, operation: listEventsOperation },
		{ method: 'GET', path: `${path}/{id}`, handler: get, operation: getEventOperation },
	];
}

const listEventsOperation = (): Operation => ({
	operationId: 'listEvents',
	tags: ['events'],
	summary: 'List events',
	description:
		'Lists the events of the last 30 days, page by page and oldest first by default. To ' +
		'continue later, filter by sequence[gt] with the sequence of the last event received. An ' +
		'access token gets the events of resources that it may read, for records that its user ' +
		'could see when they happened.',
	parameters: [
		...pageParameters,
		queryParameter('sort', 'The order: oldest first, or with a minus sign newest first.', {
			type: 'string',
			enum: eventSorts,
			default: eventSorts[0],
		}),
		listParameter(
			'type',
			'Only events of these types, or patterns such as contact.*.',
			{ type: 'string', examples: ['contact.*'] },
			{ maxItems: maxPatterns },
		),
		...eventFilters.map(filterParameter),
	],
	responses: {
		200: pageResponse('A page of events.', 'EventList', 'listEvents'),
		...errors(400),
	},
});

const getEventOperation = (): Operation => ({
	operationId: 'getEvent',
	tags: ['events'],
	summary: 'Get an event',
	parameters: [pathParameter('id', 'ID of the event.')],
	responses: { 200: success('The event.', 'Event'), ...errors(400, 404) },
});

/** Whether the newest event comes first. */
function isDescending(text: string | undefined): boolean {
	if (text === undefined || text === 'sequence') return false;
	if (text === '-sequence') return true;
	throw invalidParameter('sort', `sort must be one of: ${eventSorts.join(', ')}.`);
}

function typeConditions({ store }: Service, text: string | undefined): Condition[] {
	if (text === undefined) return [];
	const patterns = text.split(',');
	if (patterns.length > maxPatterns) {
		throw invalidParameter('type', `type takes at most ${maxPatterns} types or patterns.`);
	}
	const known = eventTypesIn(store);
	for (const pattern of patterns) {
		const problem = explainPattern(pattern, known);
		if (problem !== undefined) throw invalidParameter('type', problem);
	}
	return [typeCondition(patterns)];
}
