import { z } from 'zod';

import { pathItemAt, resolve, type OpenApiDocument, type Schema } from './openapi';
import { flatten, jsonSchema } from './schema';

/** What the service tells of. */
export interface EventCatalog {
	types: EventType[];
	/** What covers several types at once: `deal.*`, `*`. */
	patterns: string[];
}

/** One kind of event. */
export interface EventType {
	/** `deal.won`; `custom.{key}.created` for the records of every custom object. */
	type: string;
	/** What has happened, in words. */
	summary: string;
	/** Where the records it is about are, without version prefix: `/deals`. */
	collection?: string;
}

const delivery = z.object({
	post: z.object({ summary: z.string().optional(), tags: z.array(z.string()).optional() }),
});

/**
 * Reads which events a document tells of: the section `webhooks` of OpenAPI 3.1 names the types,
 * the body that creates a subscription names the patterns.
 */
export function readEventCatalog(document: OpenApiDocument): EventCatalog {
	const types = Object.entries(document.webhooks ?? {}).flatMap(([type, described]) => {
		const parsed = delivery.safeParse(described);
		return parsed.success ? [eventType(document, type, parsed.data.post)] : [];
	});
	return { types, patterns: subscribable(document).filter((value) => value.endsWith('*')) };
}

function eventType(
	{ paths }: OpenApiDocument,
	type: string,
	{ summary = type, tags = [] }: z.infer<typeof delivery>['post'],
): EventType {
	const tag = tags.find((name) => paths[`/v1/${name}`] ?? paths[`/${name}`]);
	return tag === undefined ? { type, summary } : { type, summary, collection: `/${tag}` };
}

/** The values that the service lists for the events of a subscription. */
function subscribable(document: OpenApiDocument): string[] {
	const collection = pathItemAt(document, '/v1/webhooks') ?? pathItemAt(document, '/webhooks');
	const body = jsonSchema(resolve(document, collection?.post?.requestBody ?? {}));
	const { events } = flatten(document, body ?? {}).properties ?? {};
	const items = resolve(document, flatten(document, events ?? {}).items ?? {});
	return alternatives(items)
		.flatMap((one) => resolve(document, one).enum ?? [])
		.filter((value) => typeof value === 'string');
}

const alternatives = (schema: Schema): Schema[] => [
	schema,
	...(schema.anyOf ?? []),
	...(schema.oneOf ?? []),
];
