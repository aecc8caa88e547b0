import { exampleValue } from '../endpoint/input-schema.ts';
import { componentRef, type JsonSchema } from '../../core/schemas/json-schema.ts';
import { webhooks } from '../../core/schemas/webhooks.ts';
import { pageSchema, resourceSchemas } from './resource-schemas.ts';

/** The schemas of subscriptions and deliveries. */
export function webhookSchemas(): Record<string, JsonSchema> {
	const { Webhook, WebhookCreate, WebhookUpdate, WebhookList } = resourceSchemas(webhooks);
	const record = withEventPatterns(Webhook!);
	const secret: JsonSchema = {
		title: 'Secret',
		description: 'The signing secret. Store it safely: it is not shown again.',
		type: 'string',
		examples: ['whsec_dGhpcyBpcyBhbiBleGFtcGxlIG9mIDMyIGJ5dGVzISE='],
	};
	return {
		Webhook: record,
		WebhookCreate: withEventPatterns(WebhookCreate!),
		WebhookUpdate: withEventPatterns(WebhookUpdate!),
		WebhookList: WebhookList!,
		WebhookWithSecret: {
			...record,
			description: 'A webhook with its secret.',
			properties: { ...record.properties, secret },
			example: { ...(record['example'] as object), secret: exampleValue(secret) },
		},
		WebhookDeliveryList: pageSchema('WebhookDelivery', 'deliveries'),
	};
}

/** A copy of a schema with the patterns of events to subscribe to. */
const withEventPatterns = (schema: JsonSchema): JsonSchema => {
	const { events, ...others } = schema.properties!;
	const properties = { url: others['url']!, events: { ...events, items: componentRef('EventPattern') }, ...others };
	return { ...schema, properties };
};
