import { type JsonSchema, jsonSchema } from '../schemas/json-schema.ts';
import { recoverSchema } from '../schemas/webhook-deliveries.ts';
import { webhooks } from '../schemas/webhooks.ts';
import { securityOf } from './oauth2.ts';
import { always, body, create, get, list, onWrites, remove, update } from './operations.ts';
import { idempotencyKeyParameter, idParameter } from './parameters.ts';
import { errors, success } from './responses.ts';
import { exampleValue, resourceSchemas } from './schemas.ts';
import { deliveryPaths, deliverySchemas } from './webhook-deliveries.ts';

const read = { security: securityOf(webhooks.name, 'read') };
const write = { security: securityOf(webhooks.name, 'write') };
const tags = [webhooks.name];
const { 'x-batch': _create, ...createOne } = create(webhooks);
const { 'x-batch': _update, ...updateOne } = update(webhooks);
const { 'x-batch': _remove, ...removeOne } = remove(webhooks);
const secretAnswer = success('The webhook with its secret.', 'WebhookWithSecret', 'ETag');

/** The paths of subscriptions to events. */
export const webhookPaths = () => ({
	'/v1/webhooks': {
		get: list(webhooks),
		post: {
			...createOne,
			description:
				'Subscribes an address to events. The secret is answered here and never again. With an ' +
				'access token, only events of records that its user may see are sent, and the token needs ' +
				'the read scope of every resource that the events are about.',
			responses: {
				...createOne.responses,
				201: success(
					'The new webhook with its secret.',
					'WebhookWithSecret',
					'ETag',
					'Location',
					'Idempotent-Replayed',
				),
			},
			...write,
		},
	},
	'/v1/webhooks/{id}': {
		parameters: [idParameter],
		get: { ...get(webhooks), ...read },
		patch: { ...updateOne, ...write },
		delete: { ...removeOne, ...write },
	},
	...deliveryPaths(),
	'/v1/webhooks/{id}/rotate-secret': {
		parameters: [idParameter],
		post: {
			operationId: 'rotateWebhookSecret',
			tags,
			summary: 'Rotate the secret of a webhook',
			description: 'Makes a new secret. For 24 hours, the one before signs as well.',
			parameters: [idempotencyKeyParameter],
			responses: { 200: secretAnswer, ...errors(400, 404, 409, 422, ...always) },
			...write,
		},
	},
	'/v1/webhooks/{id}/recover': {
		parameters: [idParameter],
		post: {
			operationId: 'recoverWebhook',
			tags,
			summary: 'Recover missed events',
			description:
				'Sends, in sequence, the events since then that the webhook has not got: those that ' +
				'happened while it was paused, disabled or not there yet, and those that failed, whether they ' +
				'were given up or wait for another try.',
			parameters: [idempotencyKeyParameter],
			requestBody: body('WebhookRecovery'),
			responses: {
				202: success('How many events are on their way.', 'WebhookRecovered', 'Idempotent-Replayed'),
				...errors(404, ...onWrites),
			},
			...write,
		},
	},
	'/v1/webhooks/{id}/test': {
		parameters: [idParameter],
		post: {
			operationId: 'testWebhook',
			tags,
			summary: 'Test a webhook',
			description:
				'Sends webhook.test once, whatever the status of the webhook is, and answers with what ' +
				'has become of it.',
			parameters: [idempotencyKeyParameter],
			responses: {
				200: success('The delivery, succeeded or failed.', 'WebhookDelivery', 'Idempotent-Replayed'),
				...errors(400, 404, 409, 422, ...always),
			},
			...write,
		},
	},
});

/** The schemas of subscriptions and deliveries. */
export function webhookSchemas(): Record<string, JsonSchema> {
	const { Webhook, WebhookCreate, WebhookUpdate, WebhookList } = resourceSchemas(webhooks);
	const record = withEventPatterns(Webhook!);
	const secret: JsonSchema = {
		title: 'Secret',
		description: 'Signs the deliveries. Keep it safe: it is not shown again.',
		type: 'string',
		examples: ['whsec_dGhpcyBpcyBhbiBleGFtcGxlIG9mIDMyIGJ5dGVzISE='],
	};
	const recovery = jsonSchema(recoverSchema, 'input');
	return {
		Webhook: record,
		WebhookCreate: withEventPatterns(WebhookCreate!),
		WebhookUpdate: withEventPatterns(WebhookUpdate!),
		WebhookList: WebhookList!,
		WebhookWithSecret: {
			...record,
			description: 'A webhook with its secret; a repeated answer is without it once the webhook is deleted.',
			properties: { ...record.properties, secret },
			example: { ...(record['example'] as object), secret: exampleValue(secret) },
		},
		...deliverySchemas(),
		WebhookRecovery: {
			description: 'Since when.',
			...recovery,
			additionalProperties: false,
			example: exampleValue(recovery),
		},
		WebhookRecovered: {
			description: 'What is recovered.',
			type: 'object',
			properties: {
				recovered: { description: 'How many events are sent.', type: 'integer', minimum: 0 },
			},
			required: ['recovered'],
		},
	};
}

/** The same schema, with what can be subscribed to. */
const withEventPatterns = (schema: JsonSchema): JsonSchema => {
	const { events, ...others } = schema.properties!;
	const items = { $ref: '#/components/schemas/EventPattern' };
	const properties = { url: others['url']!, events: { ...events, items }, ...others };
	return { ...schema, properties };
};
