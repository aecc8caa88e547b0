import type { Context } from 'hono';
import { type Answer, recordAnswer, toResponse } from '../collection/answer.ts';
import { fieldErrors } from '../collection/explain.ts';
import { queryOf } from '../collection/query.ts';
import { may, withoutReading } from '../collection/reading.ts';
import { answerWrite } from '../collection/requests.ts';
import { collectionRoutes } from '../collection/routes.ts';
import { changeRecord, createRecord, updateRecord } from '../collection/write.ts';
import type { Writing } from '../collection/writing.ts';
import { toAll, writeEvent } from '../events/tell.ts';
import { covers, eventTypesIn, explainPattern } from '../events/types.ts';
import { refuseWithoutScope } from '../middleware/authentication.ts';
import { limitBody } from '../middleware/body.ts';
import { scopeOf, scopes } from '../oauth/scopes.ts';
import { Problem } from '../problem.ts';
import type { Route } from '../router.ts';
import { customObjects } from '../schemas/custom-objects.ts';
import { deliveryAnswer, recoverSchema } from '../schemas/webhook-deliveries.ts';
import { type Webhook, webhooks } from '../schemas/webhooks.ts';
import type { Env, Service } from '../service.ts';
import { newWebhookSecret } from '../store/webhook-secrets.ts';
import { deliveryRoutes, jsonAnswer, refuseInactive, webhookOf } from './deliveries.ts';
import type { Dispatcher } from './dispatcher.ts';
import { deleteWebhook } from './grants.ts';
import { recover } from './recovery.ts';

/** A secret that was replaced signs for so long, so that receivers have the time to change it. */
const replacedSecretLastsMs = 24 * 60 * 60 * 1000;

/** Subscriptions to events. */
export function webhookRoutes(service: Service, dispatcher: Dispatcher): Route[] {
	const { store } = service;
	const path = `/v1/${webhooks.name}`;
	const write = (
		c: Context<Env>,
		hasBody: boolean,
		effect: (writing: Writing, body: Record<string, unknown>) => Answer,
	) => {
		queryOf(c, []);
		return answerWrite(service, webhooks, c, hasBody, effect);
	};

	const create: Route['handler'] = (c) =>
		write(c, true, (writing, body) => {
			const secret = newWebhookSecret();
			const answer = createRecord(writing, body, { secret_hint: hintOf(secret) });
			const webhook = JSON.parse(answer.body!) as Webhook;
			refuseEvents(service, c, webhook.events);
			const [grantId, allowed] = [c.get('grantId'), c.get('scopes')];
			if (grantId && allowed) store.webhookGrants.add(webhook.id, { grantId, scopes: allowed });
			dispatcher.wake();
			return { ...answer, secretId: store.webhookSecrets.set(webhook.id, secret, writing.now) };
		});

	const update: Route['handler'] = (c) =>
		write(c, true, (writing, body) => {
			const { id, events: known } = webhookOf(writing.store, c);
			const answer = updateRecord(writing, id, body, c.req.header('If-Match'));
			refuseEvents(service, c, (JSON.parse(answer.body!) as Webhook).events, known);
			store.webhookGrants.choose(id, c.get('scopes') ?? [...scopes.keys()]);
			dispatcher.wake();
			return answer;
		});

	const remove: Route['handler'] = (c) =>
		write(c, false, (writing) => {
			return deleteWebhook(writing, c.req.param('id')!, c.req.header('If-Match'));
		});

	const rotate: Route['handler'] = (c) =>
		write(c, false, (writing) => {
			const secret = newWebhookSecret();
			const change = { secret_hint: hintOf(secret) };
			const webhook = changeRecord(writing, webhookOf(writing.store, c), change, true);
			const until = writing.now + replacedSecretLastsMs;
			const secretId = store.webhookSecrets.set(webhook.id, secret, writing.now, until);
			return { ...recordAnswer(200, webhook), secretId };
		});

	const recoverEvents: Route['handler'] = (c) =>
		write(c, true, (writing, body) => {
			const webhook = webhookOf(writing.store, c);
			refuseInactive(webhook);
			const parsed = recoverSchema.safeParse(body);
			if (!parsed.success) {
				const errors = fieldErrors(parsed.error, body);
				throw new Problem('validation_failed', errors[0]!.detail, { errors });
			}
			return jsonAnswer(202, { recovered: recover(writing, webhook, parsed.data.since) });
		});

	const test: Route['handler'] = async (c) => {
		const webhook = webhookOf(c.get('store'), c);
		// Kept with the key is which delivery it is; what becomes of it is known later.
		const queued = await write(c, false, (writing) => {
			const { now, newId } = writing;
			const event = writeEvent(writing, 'test', toAll(writing, webhook), webhook);
			const id = newId('dlv', now);
			store.deliveries.add(id, webhook.id, event.sequence, now, null);
			return jsonAnswer(200, { id });
		});
		const { id } = (await queued.json()) as { id: string };
		const delivery = store.deliveries.find(webhook.id, id)!;
		const isNews = delivery.attempts.length === 0;
		const [tried] = isNews ? await dispatcher.attempt(webhook, delivery) : [delivery];
		if (isNews && store.isOpen) store.deliveries.save(tried);
		const body = JSON.stringify(deliveryAnswer(tried));
		const answer = { status: 200, headers: Object.fromEntries(queued.headers), body };
		return toResponse(may(c, 'read', webhooks.name) ? answer : withoutReading(answer));
	};

	const one = `${path}/:id`;
	return [
		...collectionRoutes(service, webhooks).filter(({ method }) => method === 'GET'),
		{ method: 'POST', path, handler: create, middleware: limitBody },
		{ method: 'PATCH', path: one, handler: update, middleware: limitBody },
		{ method: 'DELETE', path: one, handler: remove },
		...deliveryRoutes(service),
		{ method: 'POST', path: `${one}/rotate-secret`, handler: rotate },
		{ method: 'POST', path: `${one}/recover`, handler: recoverEvents, middleware: limitBody },
		{ method: 'POST', path: `${one}/test`, handler: test },
	];
}

const hintOf = (secret: string): string => secret.slice(-4);

/**
 * Refuses events that there are not, and with an access token those of records that it may not read.
 *
 * @param stored what it had before; an object that events were about may be gone since
 * @throws Problem validation_failed, insufficient_scope
 */
function refuseEvents(
	{ store }: Service,
	c: Context<Env>,
	events: string[],
	stored: string[] = [],
): void {
	const known = eventTypesIn(store);
	const errors = events.flatMap((pattern, i) => {
		const detail = stored.includes(pattern) ? undefined : explainPattern(pattern, known);
		return detail === undefined ? [] : [{ pointer: `/events/${i}`, code: 'invalid_value', detail }];
	});
	if (errors.length > 0) throw new Problem('validation_failed', errors[0]!.detail, { errors });
	for (const { type, resource } of known) {
		if (!events.some((pattern) => covers(pattern, type))) continue;
		refuseWithoutScope(c, scopeOf(resource.name, 'read'));
	}
	// Also of custom objects that are not there yet, or not any more.
	if (events.some((pattern) => pattern.startsWith('custom.'))) {
		refuseWithoutScope(c, scopeOf(customObjects.name, 'read'));
	}
}
