import { capital, namesOf } from '../../core/schemas/names.ts';
import { anyRecords, customObjects, recordsOf } from '../../core/schemas/custom-objects.ts';
import { resources } from '../../core/schemas/index.ts';
import { jobs } from '../../core/schemas/jobs.ts';
import { hasCustomFields, type Resource } from '../../core/schemas/resource.ts';
import { webhooks } from '../../core/schemas/webhooks.ts';
import type { StoreView } from '../../core/store/visibility/visible-store.ts';
import type { Condition } from '../../core/store/records/condition.ts';
import { accountId } from '../../core/schemas/account.ts';
import type { StoredEvent } from '../../core/store/log/event-reader.ts';

/** A type of event: `deal.won`. */
export interface EventType {
	type: string;
	description: string;
	/** The resource of `data.object`. */
	resource: Resource;
}

const changes = { created: 'created', updated: 'changed', deleted: 'deleted', erased: 'permanently deleted' };

export const eventTypeOf = ({ eventPrefix, object }: Resource, eventName: string): string =>
	`${eventPrefix ?? object}.${eventName}`;

const changesOf = (resource: Resource): EventType[] =>
	Object.entries(changes).filter(([eventName]) => eventName !== 'erased' || hasCustomFields(resource))
		.map(([eventName, participle]) => {
		const { withArticle } = namesOf(resource);
		return { type: eventTypeOf(resource, eventName), description: `${capital(withArticle)} was ${participle}.`, resource };
	});

const domainEventsOf = (resource: Resource): EventType[] =>
	Object.entries(resource.events ?? {}).map(([eventName, { description }]) => {
		return { type: eventTypeOf(resource, eventName), description, resource };
	});

/** The event types of the resources that every account has. Jobs have a single one, for their end. */
export const eventTypes: readonly EventType[] = [
	...[...resources, webhooks].flatMap((resource) => [...changesOf(resource), ...domainEventsOf(resource)]),
	...domainEventsOf(jobs),
];

/** The event types of custom objects; `{key}` stands for the object's key. */
export const customEventTypes: readonly EventType[] = changesOf(anyRecords);

/** Matches the records of all custom objects, including objects defined later. */
const allCustom = 'custom.*';

/** Patterns that match several types: all of one resource, or all types. */
export const eventPatterns: readonly string[] = [
	'*',
	...new Set(eventTypes.map(({ type }) => type.replace(/\.\w+$/, '.*'))),
	allCustom,
];

/** Every event type that this account has now. */
export function eventTypesIn({ unrestricted }: StoreView): EventType[] {
	const table = unrestricted.table(customObjects.name)!;
	return table.cached('event types', () => [
		...eventTypes,
		...table.findAll([]).flatMap((object) => changesOf(recordsOf(object))),
	]);
}

/** @param pattern a type, `contact.*` or `*` */
export const covers = (pattern: string, type: string): boolean =>
	pattern === type || (/^(.+\.)?\*$/.test(pattern) && type.startsWith(pattern.slice(0, -1)));

/** Explains why a pattern matches no type; undefined if it matches one. */
export function explainPattern(pattern: string, eventTypes: EventType[]): string | undefined {
	const types = eventTypes.map(({ type }) => type);
	if (pattern === allCustom || types.some((type) => covers(pattern, type))) return undefined;
	const similarTypes = types.filter((type) => covers(pattern.replace(/\.[^.]*$/, '.*'), type));
	const objects = types.flatMap((type) => /^custom\.\w+\./.exec(type)?.[0] ?? []);
	const patterns = [...eventPatterns, ...new Set(objects.map((prefix) => `${prefix}*`))];
	return `There is no event ${pattern}. These exist: ${(similarTypes.length > 0 ? similarTypes : patterns).join(', ')}.`;
}

/**
 * Selects the events of resources that an access token may read.
 *
 * @param scopes undefined for an API key, which may read everything
 */
export function readableWith(scopes: string[] | undefined): Condition[] {
	if (!scopes) return [];
	const names = scopes.flatMap((scope) => /^(.+):read$/.exec(scope)?.[1] ?? []);
	const name = "substr(resource, 1, instr(resource || '/', '/') - 1)";
	return [{ sql: `${name} IN (${names.map(() => '?').join()})`, values: names }];
}

/** Selects the events that one of the patterns matches. The patterns are valid for SQLite's GLOB. */
export const typeCondition = (patterns: string[]): Condition => ({
	sql: patterns.map(() => 'type GLOB ?').join(' OR '),
	values: patterns,
});

/** Serializes an event, always to the same bytes, so that signatures stay valid. */
export function eventJson(event: StoredEvent): string {
	const { id, type, timestamp, sequence, actor, request, data } = event;
	const version = { api_version: 'v1', account_id: accountId };
	const head = { id, type, timestamp, ...version, sequence, actor, request };
	return `${JSON.stringify(head).slice(0, -1)},"data":${data}}`;
}
