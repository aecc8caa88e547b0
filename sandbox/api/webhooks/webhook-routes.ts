import type { Context } from 'hono';
import { recordResponse } from '../../core/store/records/record-json.ts';
import { jsonResponse, toResponse } from '../../core/foundation/response-data.ts';
import { parseInput } from '../../core/foundation/field-errors.ts';
import { redactResponse } from '../../domain/access/redaction.ts';
import { respondToBodylessWrite, respondToWrite } from '../collection/respond-to-write.ts';
import { type ApiRoute, type Endpoint, endpoint } from '../endpoint/endpoint.ts';
import { success } from '../endpoint/responses.ts';
import { readEndpoints, writeEndpoints } from '../collection/record-routes.ts';
import { changeByService, updateRecord } from '../../domain/records/write.ts';
import { fullAudience, appendEvent } from '../../domain/events/publish.ts';
import { covers, eventTypesIn, readableWith, typeCondition } from '../../domain/events/event-types.ts';
import { requireScope } from '../../domain/access/authentication.ts';
import { scopeOf } from '../../domain/access/scopes.ts';
import { customObjects } from '../../core/schemas/custom-objects.ts';
import { deliveryJson, deliverySchema, recoveredSchema, recoverSchema, type Webhook, webhooks } from '../../core/schemas/webhooks.ts';
import type { Env, Service } from '../../core/service.ts';
import { newWebhookSecret } from '../../core/store/credentials/webhook-secrets.ts';
import { createWebhook, hintOf, refuseUnknownEvents } from './create-webhook.ts';
import { deliveryRoutes, refuseWithoutRights, refuseInactive, webhookOf } from './delivery-routes.ts';
import type { Dispatcher } from './dispatcher.ts';
import { authorityOf, NoRights, rightsOf } from '../../domain/access/authority.ts';
import type { WriteContext } from '../../core/store/write-context.ts';
import { testEvent } from '../../domain/events/delivery-queue.ts';
import { isIn } from '../../core/store/records/condition.ts';

/** How long deliveries are also signed with a replaced secret, so that receivers have time to change it. */
const replacedSecretLastsMs = 24 * 60 * 60 * 1000;

const webhookPath = `/v1/${webhooks.name}/{id}`;
const tag = webhooks.name;

const withSecret = (description: string, ...headers: string[]) => success(description, 'WebhookWithSecret', 'ETag', ...headers);

const createRoute = (service: Service, dispatcher: Dispatcher, create: Endpoint): ApiRoute =>
	endpoint({
		...create,
		description:
			'Subscribes an address to events. Only this response contains the secret. With an access ' +
			'token, only events of records that its user can see are sent, and the token needs the ' +
			'read scope of every resource that the events are about.',
		responses: { 201: withSecret('The new webhook with its secret.', 'Location') },
		handle: (c) =>
			respondToWrite(service, webhooks, c, (context, body) => {
				const { response, webhook } = createWebhook(context, body, c.get('authority')!.application ?? null);
				refuseUnreadEvents(service, c, webhook.events);
				setCreationGrant(service, c, webhook.id);
				dispatcher.wake();
				return response;
			}),
	});

const updateRoute = (service: Service, dispatcher: Dispatcher, update: Endpoint): ApiRoute =>
	endpoint({
		...update,
		handle: (c) =>
			respondToWrite(service, webhooks, c, (context, body) => {
				const { id, events: storedEvents } = webhookOf(context.store, c);
				const response = updateRecord(context, id, body, c.req.header('If-Match'));
				const webhook = JSON.parse(response.body!) as Webhook;
				refuseUnknownEvents(service.store, webhook.events, storedEvents);
				refuseUnreadEvents(service, c, webhook.events);
				setCreationGrant(service, c, id);
				if (webhook.status === 'active') refuseWithoutRights(service.store, webhook);
				dispatcher.wake();
				return response;
			}),
	});

const rotateRoute = (service: Service): ApiRoute =>
	endpoint({
		method: 'POST',
		path: `${webhookPath}/rotate-secret`,
		id: 'rotateWebhookSecret',
		tag,
		summary: 'Rotate the secret of a webhook',
		description: 'Generates a new secret. For 24 hours, the previous secret signs as well.',
		responses: { 200: withSecret('The webhook with its secret.') },
		handle: (c) =>
			respondToBodylessWrite(service, webhooks, c, (context) => {
				const secret = newWebhookSecret();
				const change = { secret_hint: hintOf(secret) };
				const webhook = changeByService(context, webhookOf(context.store, c), change);
				const until = context.now + replacedSecretLastsMs;
				service.store.webhookSecrets.set(webhook.id, secret, context.now, until);
				return { ...recordResponse(200, webhook), body: JSON.stringify({ ...webhook, secret }) };
			}),
	});

const recoverRoute = (service: Service): ApiRoute =>
	endpoint({
		method: 'POST',
		path: `${webhookPath}/recover`,
		id: 'recoverWebhook',
		tag,
		summary: 'Recover missed events',
		description:
			'Sends, in sequence, the events since an instant that the webhook has missed: those that ' +
			'happened while it was paused, disabled or not created yet, and failed deliveries, whether ' +
			'or not a retry is due.',
		body: recoverSchema,
		responses: { 202: success('The number of queued events.', recoveredSchema) },
		handle: (c) =>
			respondToWrite(service, webhooks, c, (context, body) => {
				const webhook = webhookOf(context.store, c);
				refuseInactive(webhook);
				const { since } = parseInput(recoverSchema, body);
				return jsonResponse(202, { recovered: recover(context, webhook, since) });
			}),
	});

const testRoute = (service: Service, dispatcher: Dispatcher): ApiRoute =>
	endpoint({
		method: 'POST',
		path: `${webhookPath}/test`,
		id: 'testWebhook',
		tag,
		summary: 'Test a webhook',
		description: 'Sends webhook.test once, regardless of the status of the webhook, and returns the outcome.',
		responses: { 200: success('The delivery, succeeded or failed.', deliverySchema) },
		handle: (c) => test(service, dispatcher, c),
	});

/** The routes of subscriptions to events. */
export function webhookRoutes(service: Service, dispatcher: Dispatcher): ApiRoute[] {
	const { list, get } = readEndpoints(service, webhooks);
	const { create, update, remove } = writeEndpoints(service, webhooks);
	return [
		endpoint(list),
		createRoute(service, dispatcher, create),
		endpoint(get),
		updateRoute(service, dispatcher, update),
		endpoint(remove),
		...deliveryRoutes(service),
		rotateRoute(service),
		recoverRoute(service),
		testRoute(service, dispatcher),
	];
}

async function test(service: Service, dispatcher: Dispatcher, c: Context<Env>): Promise<Response> {
	const { store } = service;
	const webhook = webhookOf(c.get('store'), c);
	// The stored response holds only the id of the delivery, because its outcome is not known yet.
	const queued = await respondToBodylessWrite(service, webhooks, c, (context) => {
		const { now, newId } = context;
		refuseWithoutRights(store, webhook);
		const event = appendEvent(context, 'test', fullAudience(context, webhook), webhook);
		const id = newId('dlv', now);
		store.deliveries.add(id, webhook.id, event.sequence, now, null);
		return jsonResponse(200, { id });
	});
	const { id } = (await queued.json()) as { id: string };
	const delivery = store.deliveries.find(webhook.id, id)!;
	const isFirstRun = delivery.attempts.length === 0;
	const [tried] = isFirstRun ? await dispatcher.attempt(webhook, delivery) : [delivery];
	if (isFirstRun && store.isOpen) store.deliveries.save(tried);
	const body = JSON.stringify(deliveryJson(tried));
	return toResponse(redactResponse(c, webhooks.name, { status: 200, headers: Object.fromEntries(queued.headers), body }));
}

/** A subscription depends on the permission of whoever changed it last. */
function setCreationGrant({ store }: Service, c: Context<Env>, id: string): void {
	const { grant } = c.get('authority')!;
	const scopes = c.get('scopes');
	if (grant && scopes) store.creationGrants.set(id, { ...grant, scopes });
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
	// The pattern may match custom objects that do not exist yet or no longer exist.
	if (events.some((pattern) => pattern.startsWith('custom.'))) {
		requireScope(c, scopeOf(customObjects.name, 'read'));
	}
}

const eventsAtOnce = 5000;

/**
 * Queues the events that a subscription has missed: those that happened while it was paused, disabled
 * or not created yet, and failed deliveries. Events that it has received, or is about to receive, are
 * skipped.
 *
 * @param since an RFC 3339 instant
 * @returns the number of queued events
 */
function recover({ store, newId, now }: WriteContext, webhook: Webhook, since: string): number {
	const rights = rightsOf(store.unrestricted, authorityOf(store.unrestricted, webhook));
	if (rights instanceof NoRights) return 0;
	const { events } = rights.store;
	const conditions = [
		...readableWith(rights.scopes),
		{ sql: 'created_at >= ?', values: [since] },
		typeCondition(webhook.events),
		{ sql: `resource <> '${webhooks.name}' OR data ->> '$.object.id' <> ?`, values: [webhook.id] },
		{ sql: 'type <> ?', values: [testEvent] },
		...(webhook.filter ? [isIn('record_id', JSON.stringify(webhook.filter.ids))] : []),
	];
	let recovered = 0;
	let after = 0;
	for (;;) {
		const page = events.sequences([...conditions, { sql: 'sequence > ?', values: [after] }], eventsAtOnce);
		for (const sequence of page) {
			const isQueued = store.unrestricted.deliveries.recover(newId('dlv', now), webhook.id, sequence, now);
			recovered += Number(isQueued);
			after = sequence;
		}
		if (page.length < eventsAtOnce) return recovered;
	}
}
