import type { Context } from 'hono';
import { z } from 'zod/v4';
import { type ApiRoute, endpoint } from '../endpoint/endpoint.ts';
import { pageResponse, success } from '../endpoint/responses.ts';
import { decodeCursor, encodeCursor, listFingerprint, pageParameters } from '../../domain/queries/list-query.ts';
import { respondToBodylessWrite } from '../collection/respond-to-write.ts';
import { existingRecord } from '../../domain/records/write.ts';
import { Problem } from '../../core/foundation/problem.ts';
import { type Delivery, deliveryJson, deliverySchema, deliveryStatuses, type Webhook, webhooks } from '../../core/schemas/webhooks.ts';
import type { Env, Service } from '../../core/service.ts';
import type { Store } from '../../core/store/store.ts';
import { authorityOf, NoRights, rightsOf } from '../../domain/access/authority.ts';
import type { StoreView } from '../../core/store/visibility/visible-store.ts';
import { jsonResponse, listResponse } from '../../core/foundation/response-data.ts';

/** The routes of a subscription's deliveries. */
export function deliveryRoutes(service: Service): ApiRoute[] {
	const path = `/v1/${webhooks.name}/{id}/deliveries`;
	const tag = webhooks.name;
	const { accountKey, deliveries } = service.store;
	return [
		endpoint({
			method: 'GET',
			path,
			id: 'getWebhookDeliveries',
			tag,
			summary: 'List the deliveries of a webhook',
			description: 'Lists deliveries with their attempts, newest first. They are kept for 30 days.',
			query: z.object({
				...pageParameters,
				status: z.array(z.enum(deliveryStatuses)).optional().meta({ description: 'Status is one of these.' }),
			}),
			responses: { 200: pageResponse('A page of deliveries.', 'WebhookDeliveryList', 'getWebhookDeliveries') },
			handle(c, { cursor, limit, status = [...deliveryStatuses] }) {
				const webhook = webhookOf(c.get('store'), c);
				const fingerprint = listFingerprint('deliveries', webhook.id, status);
				const [before] = cursor === undefined ? [] : decodeCursor(accountKey, cursor, fingerprint);
				const { deliveries: page, hasMore, total } = deliveries.list(webhook.id, status, before as string, limit);
				const next = hasMore ? encodeCursor(accountKey, [page.at(-1)!.id], fingerprint) : null;
				return listResponse(page.map((delivery) => JSON.stringify(deliveryJson(delivery))), next, total);
			},
		}),
		endpoint({
			method: 'GET',
			path: `${path}/{delivery_id}`,
			id: 'getWebhookDelivery',
			tag,
			summary: 'Get a delivery',
			responses: { 200: success('The delivery.', deliverySchema) },
			handle: (c) => c.json(deliveryJson(requestedDelivery(service, c))),
		}),
		endpoint({
			method: 'POST',
			path: `${path}/{delivery_id}/retry`,
			id: 'retryWebhookDelivery',
			tag,
			summary: 'Retry a delivery',
			description: 'Sends the event again now, regardless of earlier attempts.',
			responses: { 202: success('The delivery, pending.', deliverySchema) },
			handle: (c) =>
				respondToBodylessWrite(service, webhooks, c, ({ store, now }) => {
					refuseInactive(webhookOf(store, c));
					const delivery = requestedDelivery(service, c);
					const again: Delivery = { ...delivery, status: 'pending', nextAttemptAt: now };
					deliveries.save(again);
					return jsonResponse(202, deliveryJson(again));
				}),
		}),
	];
}

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

/**
 * Refuses to activate or to test a webhook whose user may not receive anything. While it is inactive, its deliveries
 * wait; an active webhook would fail them without an attempt.
 *
 * @throws Problem webhook_not_active
 */
export function refuseWithoutRights(store: Store, webhook: Webhook): void {
	const rights = rightsOf(store, authorityOf(store, webhook));
	if (!(rights instanceof NoRights)) return;
	const detail = `${rights.reason} Nothing can be sent until the user can sign in and whoever created the webhook sets it to active.`;
	throw new Problem('webhook_not_active', detail);
}
