import type { Context } from 'hono';
import { recordAnswer } from '../records/answer.ts';
import { type Answer, jsonAnswer, toResponse } from '../foundation/answer.ts';
import { parseInput } from '../foundation/field-errors.ts';
import { queryParameters } from '../http/query.ts';
import { hasAccess, redactAnswer } from '../access/redaction.ts';
import { answerWrite } from '../collection/requests.ts';
import { deleteOperation, updateOperation } from '../collection/operations.ts';
import { readRoutes } from '../collection/routes.ts';
import { changeRecord, updateRecord } from '../records/write.ts';
import type { Writing } from '../store/writing.ts';
import { fullAudience, appendEvent } from '../events/publish.ts';
import { covers, eventTypesIn } from '../events/types.ts';
import { requireScope } from '../access/authentication.ts';
import { limitBody } from '../http/body.ts';
import { scopeOf } from '../access/scopes.ts';
import type { ApiRoute } from '../http/route.ts';
import { customObjects } from '../schemas/custom-objects.ts';
import { deliveryAnswer, recoverSchema } from '../schemas/webhook-deliveries.ts';
import { type Webhook, webhooks } from '../schemas/webhooks.ts';
import type { Env, Service } from '../http/service.ts';
import { newWebhookSecret } from '../store/webhook-secrets.ts';
import { createWebhook, hintOf, refuseUnknownEvents } from './create.ts';
import { deliveryRoutes, refuseInactive, webhookOf } from './deliveries.ts';
import type { Dispatcher } from './dispatcher.ts';
import { deleteWebhook } from './grants.ts';
import {
	createWebhookOperation,
	recoverOperation,
	rotateSecretOperation,
	testOperation,
} from './operations.ts';
import { recover } from './recovery.ts';

/** How long a replaced secret still signs, so that receivers have time to change it. */
const replacedSecretLastsMs = 24 * 60 * 60 * 1000;

/** The routes of subscriptions to events. */
export function webhookRoutes(service: Service, dispatcher: Dispatcher): ApiRoute[] {
	const { store } = service;
	const { list, get } = readRoutes(service, webhooks);
	const { path } = list;
	const one = get.path;
	const write = (
		c: Context<Env>,
		hasBody: boolean,
		effect: (writing: Writing, body: Record<string, unknown>) => Answer,
	) => {
		queryParameters(c, []);
		return answerWrite(service, webhooks, c, hasBody, effect);
	};

	const create: ApiRoute['handler'] = (c) =>
		write(c, true, (writing, body) => {
			const { answer, webhook } = createWebhook(writing, body, c.get('authority')!.application ?? null);
			refuseUnreadEvents(service, c, webhook.events);
			adopt(service, c, webhook.id);
			dispatcher.wake();
			return answer;
		});

	const update: ApiRoute['handler'] = (c) =>
		write(c, true, (writing, body) => {
			const { id, events: known } = webhookOf(writing.store, c);
			const answer = updateRecord(writing, id, body, c.req.header('If-Match'));
			const { events } = JSON.parse(answer.body!) as Webhook;
			refuseUnknownEvents(store, events, known);
			refuseUnreadEvents(service, c, events);
			adopt(service, c, id);
			dispatcher.wake();
			return answer;
		});

	const remove: ApiRoute['handler'] = (c) =>
		write(c, false, (writing) => {
			return deleteWebhook(writing, c.req.param('id')!, c.req.header('If-Match'));
		});

	const rotate: ApiRoute['handler'] = (c) =>
		write(c, false, (writing) => {
			const secret = newWebhookSecret();
			const change = { secret_hint: hintOf(secret) };
			const webhook = changeRecord(writing, webhookOf(writing.store, c), change, true);
			const until = writing.now + replacedSecretLastsMs;
			const secretId = store.webhookSecrets.set(webhook.id, secret, writing.now, until);
			return { ...recordAnswer(200, webhook), secretId };
		});

	const recoverEvents: ApiRoute['handler'] = (c) =>
		write(c, true, (writing, body) => {
			const webhook = webhookOf(writing.store, c);
			refuseInactive(webhook);
			const { since } = parseInput(recoverSchema, body);
			return jsonAnswer(202, { recovered: recover(writing, webhook, since) });
		});

	const test: ApiRoute['handler'] = async (c) => {
		const webhook = webhookOf(c.get('store'), c);
		// The stored answer holds only the delivery's id, because its outcome is not known yet.
		const queued = await write(c, false, (writing) => {
			const { now, newId } = writing;
			const event = appendEvent(writing, 'test', fullAudience(writing, webhook), webhook);
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
		return toResponse(hasAccess(c, 'read', webhooks.name) ? answer : redactAnswer(answer));
	};

	return [
		list,
		{ method: 'POST', path, handler: create, middleware: limitBody, operation: createWebhookOperation },
		get,
		{ method: 'PATCH', path: one, handler: update, middleware: limitBody, operation: () => updateOperation(webhooks) },
		{ method: 'DELETE', path: one, handler: remove, operation: () => deleteOperation(webhooks) },
		...deliveryRoutes(service),
		{ method: 'POST', path: `${one}/rotate-secret`, handler: rotate, operation: rotateSecretOperation },
		{
			method: 'POST',
			path: `${one}/recover`,
			handler: recoverEvents,
			middleware: limitBody,
			operation: recoverOperation,
		},
		{ method: 'POST', path: `${one}/test`, handler: test, operation: testOperation },
	];
}

/** The permission of the last change is the one that a subscription depends on. */
function adopt({ store }: Service, c: Context<Env>, id: string): void {
	const { grant } = c.get('authority')!;
	const scopes = c.get('scopes');
	if (grant && scopes) store.begunWith.set(id, { ...grant, scopes });
}

/**
 * Refuses events of records that the access token may not read.
 *
 * @throws Problem insufficient_scope
 */
function refuseUnreadEvents({ store }: Service, c: Context<Env>, events: string[]): void {
	for (const { type, resource } of eventTypesIn(store)) {
		if (!events.some((pattern) => covers(pattern, type))) continue;
		requireScope(c, scopeOf(resource.name, 'read'));
	}
	// This includes custom objects that do not exist yet, or no longer.
	if (events.some((pattern) => pattern.startsWith('custom.'))) {
		requireScope(c, scopeOf(customObjects.name, 'read'));
	}
}
