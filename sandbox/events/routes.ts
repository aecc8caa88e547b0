import type { Context } from 'hono';
import { filterCondition } from '../collection/conditions.ts';
import { decodeCursor, encodeCursor, listFingerprint } from '../collection/cursor.ts';
import { parseLimit } from '../collection/list-query.ts';
import { catchUp } from '../collection/passing.ts';
import { queryOf } from '../collection/query.ts';
import { invalidParameter, Problem } from '../problem.ts';
import type { Route } from '../router.ts';
import type { Env, Service } from '../service.ts';
import type { Condition } from '../store/condition.ts';
import { keysetCondition } from '../store/keyset.ts';
import { eventJson } from './event.ts';
import { eventFilters, eventSorts } from './filters.ts';
import { eventTypesIn, explainPattern } from './types.ts';

const json = { 'Content-Type': 'application/json' };

/** The log of events: what has happened in the last 30 days, in sequence. */
export function eventRoutes(service: Service): Route[] {
	const path = '/v1/events';
	const { accountKey } = service.store;

	const list: Route['handler'] = async (c) => {
		const given = queryOf(c, [
			'cursor',
			'limit',
			'sort',
			'type',
			...eventFilters.map(({ parameter }) => parameter),
		]);
		const limit = parseLimit(given.get('limit'));
		const descending = parseSort(given.get('sort'));
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
		const { events } = await logOf(c);
		// One more than asked for shows whether there is a next page.
		const { events: found, total } = await events.list(conditions, beyond, limit + 1, descending);
		const page = found.slice(0, limit);
		const next = found.length > limit ? encodeCursor(accountKey, [page.at(-1)!.sequence], fingerprint) : null;
		const data = page.map(eventJson).join();
		return c.body(
			`{"data":[${data}],"next_cursor":${JSON.stringify(next)},"total":${total}}`,
			200,
			json,
		);
	};

	const get: Route['handler'] = async (c) => {
		queryOf(c, []);
		const id = c.req.param('id')!;
		const isIt = { sql: 'id = ?', values: [id] };
		const [event] = (await logOf(c)).events.page([...readableWith(c.get('scopes')), isIt], 1);
		if (event) return c.body(eventJson(event), 200, json);
		throw new Problem('not_found', `There is no event ${id}. Events are kept for 30 days.`);
	};

	/** The log as the caller sees it, as it is by now. */
	const logOf = async (c: Context<Env>) => {
		await catchUp(service);
		const store = c.get('store');
		store.events.expire(service.now());
		return store;
	};

	return [
		{ method: 'GET', path, handler: list },
		{ method: 'GET', path: `${path}/:id`, handler: get },
	];
}

/** Whether the newest event comes first. */
function parseSort(text: string | undefined): boolean {
	if (text === undefined || text === 'sequence') return false;
	if (text === '-sequence') return true;
	throw invalidParameter('sort', `sort has to be one of: ${eventSorts.join(', ')}.`);
}

/**
 * True of the events of resources that an access token may read.
 *
 * @param scopes undefined for an API key, which may read all
 */
export function readableWith(scopes: string[] | undefined): Condition[] {
	if (!scopes) return [];
	const readableNames = scopes.filter((scope) => scope.endsWith(':read')).map(resourceOf);
	const marks = readableNames.map(() => '?').join();
	const name = "substr(resource, 1, instr(resource || '/', '/') - 1)";
	return [{ sql: `${name} IN (${marks})`, values: readableNames }];
}

const resourceOf = (scope: string): string => scope.replace(/:read$/, '');

function typeConditions({ store }: Service, text: string | undefined): Condition[] {
	if (text === undefined) return [];
	const patterns = text.split(',');
	const known = eventTypesIn(store);
	for (const pattern of patterns) {
		const problem = explainPattern(pattern, known);
		if (problem !== undefined) throw invalidParameter('type', problem);
	}
	return [typeCondition(patterns)];
}

/** True of the events that one of the patterns covers; SQLite's GLOB reads them as they are. */
export const typeCondition = (patterns: string[]): Condition => ({
	sql: patterns.map(() => 'type GLOB ?').join(' OR '),
	values: patterns,
});
