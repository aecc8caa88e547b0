import type { Context } from 'hono';
import type { Answer } from '../collection/answer.ts';
import { decodeCursor, encodeCursor, listFingerprint } from '../collection/cursor.ts';
import { parseLimit } from '../collection/list-query.ts';
import { queryOf } from '../collection/query.ts';
import { answerWrite } from '../collection/requests.ts';
import { existingRecord } from '../collection/write.ts';
import { invalidParameter, Problem } from '../problem.ts';
import type { Route } from '../router.ts';
import { deliveryAnswer } from '../schemas/webhook-deliveries.ts';
import { type Webhook, webhooks } from '../schemas/webhooks.ts';
import type { Env, Service } from '../service.ts';
import { type Delivery, deliveryStatuses } from '../store/deliveries.ts';
import type { Store } from '../store/store.ts';

/** What was sent to a subscription and what became of it. */
export function deliveryRoutes(service: Service): Route[] {
	const path = `/v1/${webhooks.name}/:id/deliveries`;
	const { accountKey } = service.store;

	const list: Route['handler'] = (c) => {
		const given = queryOf(c, ['cursor', 'limit', 'status']);
		const webhook = webhookOf(c.get('store'), c);
		const limit = parseLimit(given.get('limit'));
		const statuses = parseStatuses(given.get('status'));
		const fingerprint = listFingerprint('deliveries', webhook.id, statuses);
		const cursor = given.get('cursor');
		const [before] = cursor === undefined ? [] : decodeCursor(accountKey, cursor, fingerprint);
		const { deliveries } = service.store;
		const found = deliveries.page(webhook.id, statuses, before as string, limit + 1);
		const page = found.slice(0, limit);
		return c.json({
			data: page.map(deliveryAnswer),
			next_cursor: found.length > limit ? encodeCursor(accountKey, [page.at(-1)!.id], fingerprint) : null,
			total: deliveries.count(webhook.id, statuses),
		});
	};

	const get: Route['handler'] = (c) => {
		queryOf(c, []);
		return c.json(deliveryAnswer(deliveryOf(service, c)));
	};

	const retry: Route['handler'] = (c) => {
		queryOf(c, []);
		return answerWrite(service, webhooks, c, false, ({ store, now }) => {
			refuseInactive(webhookOf(store, c));
			const delivery = deliveryOf(service, c);
			const again: Delivery = { ...delivery, status: 'pending', nextAttemptAt: now };
			store.deliveries.save(again);
			return jsonAnswer(202, deliveryAnswer(again));
		});
	};

	return [
		{ method: 'GET', path, handler: list },
		{ method: 'GET', path: `${path}/:delivery_id`, handler: get },
		{ method: 'POST', path: `${path}/:delivery_id/retry`, handler: retry },
	];
}

/** The subscription that a path is about. */
export const webhookOf = (store: Store, c: Context<Env>): Webhook =>
	existingRecord(store, webhooks, c.req.param('id')!) as Webhook;

function deliveryOf({ store }: Service, c: Context<Env>): Delivery {
	const id = c.req.param('delivery_id')!;
	const delivery = store.deliveries.find(webhookOf(c.get('store'), c).id, id);
	if (delivery) return delivery;
	throw new Problem('not_found', `The webhook has no delivery ${id}. They are kept for 30 days.`);
}

/** @throws Problem webhook_not_active: what is queued for it would wait */
export function refuseInactive({ status }: Webhook): void {
	if (status === 'active') return;
	const detail = `The webhook is ${status}. Set its status to active first.`;
	throw new Problem('webhook_not_active', detail);
}

export const jsonAnswer = (status: number, body: unknown): Answer => ({
	status,
	headers: { 'Content-Type': 'application/json' },
	body: JSON.stringify(body),
});

function parseStatuses(text: string | undefined): string[] {
	const statuses = text?.split(',') ?? [...deliveryStatuses];
	if (statuses.every((status) => (deliveryStatuses as readonly string[]).includes(status))) {
		return statuses;
	}
	throw invalidParameter('status', `status is one of: ${deliveryStatuses.join(', ')}.`);
}
