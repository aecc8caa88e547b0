import { type JsonSchema, jsonSchema } from '../schemas/json-schema.ts';
import { deliverySchema } from '../schemas/webhook-deliveries.ts';
import { webhooks } from '../schemas/webhooks.ts';
import { deliveryStatuses } from '../store/deliveries.ts';
import { securityOf } from './oauth2.ts';
import { always } from './operations.ts';
import { listOf } from './parameter.ts';
import { idempotencyKeyParameter, idParameter, pageParameters } from './parameters.ts';
import { errors, success } from './responses.ts';
import { pageSchema } from './schemas.ts';

const read = { security: securityOf(webhooks.name, 'read') };
const write = { security: securityOf(webhooks.name, 'write') };
const tags = [webhooks.name];

/** The paths of what was sent to a subscription. */
export const deliveryPaths = () => ({
	'/v1/webhooks/{id}/deliveries': {
		parameters: [idParameter],
		get: {
			operationId: 'getWebhookDeliveries',
			tags,
			summary: 'List the deliveries of a webhook',
			description: 'Lists what was sent and what became of it, the newest first; for 30 days.',
			parameters: [
				...pageParameters,
				listOf('status', 'Status is one of these.', { type: 'string', enum: [...deliveryStatuses] }),
			],
			responses: {
				200: {
					...success('A page of deliveries.', 'WebhookDeliveryList'),
					links: {
						next: {
							operationId: 'getWebhookDeliveries',
							parameters: { cursor: '$response.body#/next_cursor' },
						},
					},
				},
				...errors(400, 404, ...always),
			},
			...read,
		},
	},
	'/v1/webhooks/{id}/deliveries/{delivery_id}': {
		parameters: [idParameter, deliveryIdParameter],
		get: {
			operationId: 'getWebhookDelivery',
			tags,
			summary: 'Get a delivery',
			parameters: [],
			responses: {
				200: success('The delivery.', 'WebhookDelivery'),
				...errors(400, 404, ...always),
			},
			...read,
		},
	},
	'/v1/webhooks/{id}/deliveries/{delivery_id}/retry': {
		parameters: [idParameter, deliveryIdParameter],
		post: {
			operationId: 'retryWebhookDelivery',
			tags,
			summary: 'Retry a delivery',
			description: 'Sends the event again now, whatever has become of it before.',
			parameters: [idempotencyKeyParameter],
			responses: {
				202: success('The delivery, pending.', 'WebhookDelivery', 'Idempotent-Replayed'),
				...errors(400, 404, 409, 422, ...always),
			},
			...write,
		},
	},
});

const deliveryIdParameter = {
	...idParameter,
	name: 'delivery_id',
	description: 'Id of the delivery.',
};

/** The schemas of deliveries. */
export const deliverySchemas = (): Record<string, JsonSchema> => ({
	WebhookDelivery: {
		description: 'An event on its way to a webhook.',
		...jsonSchema(deliverySchema, 'output'),
		// As of records, a token that may not read them is answered no more than this.
		required: ['id'],
	},
	WebhookDeliveryList: pageSchema('WebhookDelivery', 'deliveries'),
});
