import { z } from 'zod';

import type { OpenApiDocument } from './openapi';
import { operationOf, readPart } from './documentParts';
import { collectionIn, pathItemAt } from './paths';
import { flatten, jsonSchema, namedValues } from './schema';

/** The events a service can send. */
export interface EventCatalog {
	types: EventType[];
	/** Patterns that match several types: `deal.*`, `*`. */
	patterns: string[];
}

/** One type of event. */
export interface EventType {
	/** `deal.won`; `custom.{key}.created` for the records of every custom object. */
	type: string;
	/** What happened, in words. */
	summary: string;
	/** Path of the records it is about, without version prefix: `/deals`. */
	collection?: string;
}

const delivery = z.object({
	post: z.object({
		summary: z.string().optional().catch(undefined),
		tags: z.array(z.string()).optional().catch(undefined),
	}),
});

/**
 * Reads the events that a document describes: the section `webhooks` of OpenAPI 3.1 names the types, and the body that
 * creates a subscription names the patterns.
 */
export function readEventCatalog(document: OpenApiDocument): EventCatalog {
	const types = Object.entries(document.webhooks ?? {}).flatMap(([type, described]) => {
		const parsed = delivery.safeParse(described);
		return parsed.success ? [eventType(document, type, parsed.data.post)] : [];
	});
	return { types, patterns: subscribable(document).filter((value) => value.endsWith('*')) };
}

function eventType(
	document: OpenApiDocument,
	type: string,
	{ summary = type, tags = [] }: z.infer<typeof delivery>['post'],
): EventType {
	const tag = tags.find((name) => collectionIn(document, `/${name}`) !== undefined);
	return tag === undefined ? { type, summary } : { type, summary, collection: `/${tag}` };
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
