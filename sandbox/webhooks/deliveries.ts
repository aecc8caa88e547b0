import type { Context } from 'hono';
import {
	idempotencyKeyParameter,
	listParameter,
	pageParameters,
} from '../description/parameters.ts';
import { errors, pageResponse, success } from '../description/responses.ts';
import type { Operation } from '../http/operation.ts';
import { requireRightsStill } from '../access/authentication.ts';
import { decodeCursor, encodeCursor, listFingerprint } from '../queries/cursor.ts';
import { parseLimit } from '../queries/list-query.ts';
import { queryParameters } from '../http/query.ts';
import { answerWrite } from '../collection/requests.ts';
import { existingRecord } from '../records/write.ts';
import { invalidParameter, Problem } from '../foundation/problem.ts';
import type { ApiRoute } from '../http/route.ts';
import { type Delivery, deliveryAnswer, deliveryStatuses } from '../schemas/webhook-deliveries.ts';
import { type Webhook, webhooks } from '../schemas/webhooks.ts';
import type { Env, Service } from '../http/service.ts';
import { webhookTags } from './operations.ts';
import type { StoreView } from '../store/visible-store.ts';
import { jsonAnswer } from '../foundation/answer.ts';

/** The routes of a subscription's deliveries. */
export function deliveryRoutes(service: Service): ApiRoute[] {
	const path = `/v1/${webhooks.name}/{id}/deliveries`;
	const { accountKey } = service.store;

	const list: ApiRoute['handler'] = async (c) => {
		const given = queryParameters(c, ['cursor', 'limit', 'status']);
		const webhook = webhookOf(c.get('store'), c);
		const limit = parseLimit(given.get('limit'));
		const statuses = parseStatuses(given.get('status'));
		const fingerprint = listFingerprint('deliveries', webhook.id, statuses);
		const cursor = given.get('cursor');
		const [before] = cursor === undefined ? [] : decodeCursor(accountKey, cursor, fingerprint);
		const { deliveries } = service.store;
		const { deliveries: page, hasMore, total } = await deliveries.list(webhook.id, statuses, before as string, limit);
		// Rights may have ended meanwhile.
		requireRightsStill(service, c);
		webhookOf(c.get('store'), c);
		return c.json({
			data: page.map(deliveryAnswer),
			next_cursor: hasMore ? encodeCursor(accountKey, [page.at(-1)!.id], fingerprint) : null,
			total,
		});
	};

	const get: ApiRoute['handler'] = (c) => {
		queryParameters(c, []);
		return c.json(deliveryAnswer(requestedDelivery(service, c)));
	};

	const retry: ApiRoute['handler'] = (c) => {
		queryParameters(c, []);
		return answerWrite(service, webhooks, c, false, ({ store, now }) => {
			refuseInactive(webhookOf(store, c));
			const delivery = requestedDelivery(service, c);
			const again: Delivery = { ...delivery, status: 'pending', nextAttemptAt: now };
			store.whole.deliveries.save(again);
			return jsonAnswer(202, deliveryAnswer(again));
		});
	};

	return [
		{ method: 'GET', path, handler: list, operation: listDeliveriesOperation },
		{ method: 'GET', path: `${path}/{delivery_id}`, handler: get, operation: getDeliveryOperation },
		{
			method: 'POST',
			path: `${path}/{delivery_id}/retry`,
			handler: retry,
			operation: retryDeliveryOperation,
		},
	];
}

const listDeliveriesOperation = (): Operation => ({
	operationId: 'getWebhookDeliveries',
	tags: webhookTags,
	summary: 'List the deliveries of a webhook',
	description: 'Lists deliveries with their attempts, newest first. They are kept for 30 days.',
	parameters: [
		...pageParameters,
		listParameter('status', 'Status is one of these.', { type: 'string', enum: [...deliveryStatuses] }),
	],
	responses: {
		200: pageResponse('A page of deliveries.', 'WebhookDeliveryList', 'getWebhookDeliveries'),
		...errors(400, 404),
	},
});

const getDeliveryOperation = (): Operation => ({
	operationId: 'getWebhookDelivery',
	tags: webhookTags,
	summary: 'Get a delivery',
	parameters: [],
	responses: {
		200: success('The delivery.', 'WebhookDelivery'),
		...errors(400, 404),
	},
});

const retryDeliveryOperation = (): Operation => ({
	operationId: 'retryWebhookDelivery',
	tags: webhookTags,
	summary: 'Retry a delivery',
	description: 'Sends the event again now, regardless of earlier attempts.',
	parameters: [idempotencyKeyParameter],
	responses: {
		202: success('The delivery, pending.', 'WebhookDelivery', 'Idempotent-Replayed'),
		...errors(400, 404, 409, 422),
	},
});

/** The subscription in the path of a request. */
export const webhookOf = (store: StoreView, c: Context<Env>): Webhook =>
	existingRecord(store, webhooks, c.req.param('id')!) as Webhook;

function requestedDelivery({ store }: Service, c: Context<Env>): Delivery {
	const id = c.req.param('delivery_id')!;
	const delivery = store.deliveries.find(webhookOf(c.get('store'), c).id, id);
	if (delivery) return delivery;
	throw new Problem('not_found', `The webhook has no delivery ${id}. They are kept for 30 days.`);
}

/** @throws Problem webhook_not_active, because its deliveries would not be sent */
export function refuseInactive({ status }: Webhook): void {
	if (status === 'active') return;
	const detail = `The webhook is ${status}. Set its status to active first.`;
	throw new Problem('webhook_not_active', detail);
}

function parseStatuses(text: string | undefined): string[] {
	const statuses = text?.split(',') ?? [...deliveryStatuses];
	if (statuses.every((status) => (deliveryStatuses as readonly string[]).includes(status))) {
		return statuses;
	}
	throw invalidParameter('status', `status is one of: ${deliveryStatuses.join(', ')}.`);
}
