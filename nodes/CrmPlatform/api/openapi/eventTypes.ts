import { isObject } from '../../base/json';
import { operationOf, readPart, type OpenApiDocument } from './openapi';
import { collectionIn, pathItemAt } from './paths';
import { flatten, jsonSchema, namedValues } from './schema';

export interface EventCatalog {
	types: EventType[];
	/** Patterns that match several types: `deal.*`, `*`. */
	patterns: string[];
}

export interface EventType {
	/** `deal.won`; `custom.{key}.created` for the records of every custom object. */
	type: string;
	/** What happened, in words. */
	summary: string;
	/** Path of the records it is about, without version prefix: `/deals`. */
	collection?: string;
}

/**
 * Reads the events that a document describes: the section `webhooks` of OpenAPI 3.1 names the types, and the body that
 * creates a subscription names the patterns.
 */
export function readEventCatalog(document: OpenApiDocument): EventCatalog {
	const types = Object.entries(document.webhooks ?? {}).flatMap(([type, described]) =>
		isObject(described) && isObject(described.post) ? [eventType(document, type, described.post)] : [],
	);
	return { types, patterns: subscribable(document).filter((value) => value.endsWith('*')) };
}

function eventType(document: OpenApiDocument, type: string, { summary, tags }: Record<string, unknown>): EventType {
	const names = Array.isArray(tags) ? (tags as unknown[]) : [];
	const tag = names.find((name) => collectionIn(document, `/${String(name)}`) !== undefined);
	return { type, summary: typeof summary === 'string' ? summary : type, ...(tag !== undefined && { collection: `/${String(tag)}` }) };
}

/** The values that the service lists for the events of a subscription. */
function subscribable(document: OpenApiDocument): string[] {
	const collection = pathItemAt(document, collectionIn(document, '/webhooks'));
	const create = collection && operationOf(collection, 'post');
	const body = jsonSchema(readPart(document, create?.requestBody, 'requestBody'));
	const { events } = flatten(document, body ?? {}).properties ?? {};
	const items = flatten(document, events ?? {}).items ?? {};
	return namedValues(document, items).filter((value) => typeof value === 'string');
}
