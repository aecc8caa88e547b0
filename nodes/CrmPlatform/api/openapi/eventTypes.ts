import { isObject } from '../../base/json';
import { defined } from '../../base/ownMembers';
import type { Collection } from '../http/path';
import { collectionIn, type OpenApiDocument } from './openapi';
import { operationAt } from './operation';
import { namedValues } from './schema';

export interface EventCatalog {
	types: EventType[];
	/** Patterns that match several types: `deal.*`, `*`. */
	patterns: string[];
}

export interface EventType {
	/** `deal.won`; `custom.{key}.created` for the records of every custom object. */
	type: string;
	summary: string;
	/** Of the records it is about. */
	collection?: Collection;
}

/** The section `webhooks` of OpenAPI 3.1 names the types, and the body that creates a subscription names the patterns. */
export function readEventCatalog(document: OpenApiDocument): EventCatalog {
	const types = Object.entries(isObject(document.webhooks) ? document.webhooks : {}).flatMap(([type, described]) =>
		isObject(described) && isObject(described.post) ? [eventType(document, type, described.post)] : [],
	);
	const create = operationAt(document, collectionIn(document, '/webhooks'), 'post');
	const events = create?.body.properties?.events;
	const names = events ? namedValues(events.items) : [];
	return { types, patterns: names.map(String).filter((name) => name.endsWith('*')) };
}

function eventType(document: OpenApiDocument, type: string, { summary, tags }: Record<string, unknown>): EventType {
	const names = Array.isArray(tags) ? (tags as unknown[]) : [];
	const tag = names.find((name) => collectionIn(document, `/${String(name)}`) !== undefined);
	const collection = tag === undefined ? undefined : (`/${String(tag)}` as const);
	return defined({ type, summary: typeof summary === 'string' ? summary : type, collection });
}
