import { type IDataObject, NodeApiError, NodeOperationError } from 'n8n-workflow';
import { z } from 'zod';

import type { Reason } from '../../api/http/errorWords';
import { breaksRule, ruleBroken } from '../../api/http/rules';
import type { Connection } from '../../api/connection';
import { undefinedIfGone } from '../../api/refusals';
import { createSubscription, deleteSubscription, listSubscriptions, newKeyFor, subscriptionPath } from '../../api/webhookSubscriptions';
import { isSecret } from './signature';
import { onlyIfSchema } from '../eventFilter';
import { readState, storeState } from '../storedState';
import type { PublishContext, TriggerContext } from '../triggerContext';

const subscription = z.object({
	id: z.union([z.string(), z.number()]).transform(String),
	url: z.string(),
	/** Sorted, as the requested ones are: a service may return them in any order. */
	events: z.array(z.string()).transform((events) => events.sort()),
	status: z.string(),
	created_at: z.string(),
	updated_at: z.string(),
	/** When deliveries began to fail. */
	failing_since: z.string().nullable(),
	/** The last characters of the secret. */
	secret_hint: z.string().min(1),
});

export type Subscription = z.infer<typeof subscription>;

/** Responses to create and rotate contain the secret. Elsewhere it may be masked or outdated, so it is not read. */
const shownSecret = z.object({ secret: z.string().refine(isSecret) });

export interface SubscriptionRequest {
	url: string;
	events: string[];
}

/** Begins the description of each subscription of a trigger. */
const ownPrefix = 'n8n: ';

export interface EnsuredSubscription {
	/** Without `changed`, since missed events still have to be recovered. */
	state: SubscriptionState;
	updatedAt: string;
	/** Whether it is the trigger's first one, which has missed no events. */
	isFirst: boolean;
}

/** A subscription as stored in the service at a time (Unix epoch ms of the service's clock). */
export interface FoundSubscription {
	subscription: Subscription;
	now: number;
}

/**
 * Finds the trigger's subscription and updates it, or subscribes. One whose address somebody has changed is replaced: the
 * service counts events accepted there as delivered, and would not recover them.
 *
 * @param hours how far back missed events are recovered; undefined if not: those until now then stay missed, even if it is turned on later
 * @throws NodeOperationError if somebody has paused it
 */
export async function ensureSubscription(
	n8n: PublishContext,
	api: Connection,
	request: SubscriptionRequest,
	state: SubscriptionState,
	hours: number | undefined,
): Promise<EnsuredSubscription> {
	let found = (await findOwnSubscription(api, state.id, request.url))?.subscription;
	const isFirst = !found && state.deliveredUntil === undefined;
	if (found && !['active', 'disabled'].includes(found.status)) {
		throw forPerson(
			n8n,
			`The webhook of this trigger is ${found.status} in the CRM, so no event would start the workflow`,
			`Resume the webhook ${found.id} in the CRM, or delete it there. If you were publishing the workflow, publish it again. Missed events are delivered then.`,
		);
	}
	if (found && found.url !== request.url && !isMoved(found, request, state)) {
		await deleteSubscription(api, found.id);
		// The response to an earlier request may have been lost.
		found = (await findOwnSubscription(api, undefined, request.url))?.subscription;
	}
	const { subscription, secret } = await (found ? updateSubscription(api, found, request, state) : subscribe(n8n, api, request));
	const { id, created_at: createdAt, updated_at: updatedAt } = subscription;
	const deliveredUntil = (hours === undefined ? undefined : state.deliveredUntil) ?? createdAt;
	return { state: { ...state, ...request, id, secret, deliversTo: request.url, changed: undefined, deliveredUntil }, updatedAt, isFirst };
}

/** Whether n8n's address has changed since it subscribed, and the subscription has not. */
export const isMoved = (subscription: Subscription, { url }: SubscriptionRequest, { deliversTo }: SubscriptionState): boolean =>
	subscription.url !== url && subscription.url === deliversTo;

export const matchesRequest = (subscription: Subscription, request: SubscriptionRequest, state: SubscriptionState): boolean =>
	isFor(subscription, request) && hasSecret(subscription, state);

/** Whether it delivers the requested events. */
const isFor = (subscription: Subscription, { url, events }: SubscriptionRequest): boolean =>
	subscription.status === 'active' && subscription.url === url && subscription.events.join() === events.join();

/** Whether the stored secret is the current one. */
const hasSecret = (subscription: Subscription, { id, secret }: SubscriptionState): boolean =>
	id === subscription.id && secret?.endsWith(subscription.secret_hint) === true;

/**
 * Updates a subscription to the request, enables a disabled one, and renews an unknown secret: for a day, the service signs with both.
 *
 * @throws Error in the user's words if the service does not do it
 */
async function updateSubscription(
	api: Connection,
	found: Subscription,
	{ url, events }: SubscriptionRequest,
	state: SubscriptionState,
): Promise<{ subscription: Subscription; secret: string }> {
	const change: IDataObject = {};
	if (found.url !== url) change.url = url;
	if (found.events.join() !== events.join()) change.events = events;
	if (found.status === 'disabled') change.status = 'active';
	const path = subscriptionPath(found.id);
	const isRight = Object.keys(change).length === 0;
	const subscription = isRight ? found : parseSubscription((await api.send({ method: 'PATCH', path, body: change })).body);
	if (!isFor(subscription, { url, events })) throw new Error(`The CRM did not change the webhook ${found.id}. Delete it in the CRM: the trigger then creates another one.`);
	if (hasSecret(subscription, state)) return { subscription, secret: state.secret! };
	const rotate = (await api.describe('/webhooks'))?.recordActions['rotate-secret'];
	const { body } = await api.send({ method: 'POST', path: `${path}/rotate-secret`, ...newKeyFor(rotate) });
	return { subscription, secret: secretIn(body) };
}

/** Finds the trigger's own subscription: by its id, if that is known, otherwise by n8n's address, which is unique to it. */
export async function findOwnSubscription(api: Connection, id: string | undefined, url: string): Promise<FoundSubscription | undefined> {
	const foundById = id === undefined ? undefined : await findSubscription(api, id);
	if (foundById) return foundById;
	// Read again to get the time, and because the list may be outdated.
	for await (const record of listSubscriptions(api, ownPrefix, url)) {
		if (record.url === url) return await findSubscription(api, parseSubscription(record).id);
	}
	return undefined;
}

/** Reads a subscription; undefined if it does not exist (404, 410). */
export async function findSubscription(api: Connection, id: string): Promise<FoundSubscription | undefined> {
	const found = await undefinedIfGone(api.send({ method: 'GET', path: subscriptionPath(id) }));
	if (!found) return undefined;
	// The header Date has whole seconds (RFC 9110 section 6.6.1), rounded down.
	const date = Date.parse(found.headers.date ?? '');
	// Without the header, a minute compensates for the difference between the clocks.
	return { subscription: parseSubscription(found.body), now: Number.isNaN(date) ? Date.now() - 60_000 : date - 1_000 };
}

async function subscribe(n8n: PublishContext, api: Connection, request: SubscriptionRequest) {
	// For people who read the service's list of subscriptions.
	const description = `${ownPrefix}${n8n.getWorkflow().name ?? ''} / ${n8n.getNode().name}`.slice(0, 255);
	const creating = createSubscription(api, { ...request, description });
	const body = await creating.catch((error) => explainRefusal(n8n, request.url, error));
	return { subscription: parseSubscription(body), secret: secretIn(body) };
}

/** @throws Error in the user's words if the response has no secret that can verify a delivery */
function secretIn(body: unknown): string {
	const { data } = shownSecret.safeParse(body);
	if (data) return data.secret;
	throw ruleBroken(16, 'Response to the new webhook', 'It has no signing secret, so deliveries could not be verified.');
}

/** @throws Error in the user's words if the response is not a subscription */
function parseSubscription(body: unknown): Subscription {
	const parsed = subscription.safeParse(body);
	if (parsed.success) return parsed.data;
	const [field] = parsed.error.issues[0]?.path ?? [];
	const problem = field === undefined ? 'it is empty or not a JSON object' : `its ${String(field)} is missing or has the wrong type`;
	throw new Error(
		`The response of the CRM is not a webhook: ${problem}. ${breaksRule(16)} Check that the base URL in the credential is the URL of the API.`,
	);
}

/** @throws NodeOperationError if the service refuses n8n's address, otherwise the error itself */
function explainRefusal(n8n: PublishContext, url: string, error: unknown): never {
	const data = error instanceof NodeApiError ? (error.context.data as { errors?: Reason[] } | undefined) : undefined;
	const urlError = data?.errors?.find(({ pointer }) => pointer === '/url');
	if (!urlError) throw error;
	throw forPerson(
		n8n,
		`The CRM cannot deliver to this n8n at ${url}: ${urlError.detail ?? 'it rejected the URL'}`,
		'No event reaches this trigger. The CRM needs a public HTTPS URL: set N8N_WEBHOOK_URL in n8n and publish the workflow again, or use the CRM Platform Poll Trigger, which works without one.',
	);
}

/** An error that does not pass by itself, so that it is reported at once. */
export function forPerson(n8n: TriggerContext, message: string, description = ''): NodeOperationError {
	const error = new NodeOperationError(n8n.getNode(), message, { description });
	error.context.needsPerson = true;
	return error;
}

const schema = z.object({
	/** The subscription this trigger has made; absent while it is unpublished. */
	id: z.string().optional(),
	secret: z.string().optional(),
	/** The events, and n8n's address, which n8n states only when the workflow is published. */
	url: z.string().optional(),
	events: z.array(z.string()).optional(),
	/** The address of n8n when the trigger last subscribed; it may have changed since. */
	deliversTo: z.string().optional(),
	/** The `updated_at` of the subscription when nothing was missing. If it differs now, somebody has changed the subscription. */
	changed: z.string().optional(),
	/** The instant (RFC 3339) up to which every event has been delivered, as far as known. */
	deliveredUntil: z.string().optional(),
	/** Whether a gateway before n8n answers deliveries itself, as far as known. */
	hasGateway: z.boolean().optional(),
	onlyIf: onlyIfSchema.optional(),
});

/** The static data of a webhook trigger. */
export type SubscriptionState = z.infer<typeof schema>;

/** Whether this is a test run, which has a temporary address of its own. */
export const isTest = (n8n: TriggerContext): boolean => !n8n.getWorkflow().active;

export function readSubscription(n8n: TriggerContext): SubscriptionState {
	if (!isTest(n8n)) return readState(n8n, schema) ?? {};
	const stored: unknown = n8n.getWorkflowStaticData('global')[testName(n8n)];
	return schema.safeParse(JSON.parse(JSON.stringify(stored ?? {}))).data ?? {};
}

export function storeSubscription(n8n: PublishContext, state: SubscriptionState): void {
	if (isTest(n8n)) n8n.getWorkflowStaticData('global')[testName(n8n)] = { ...state };
	else storeState(n8n, state);
}

const testName = (n8n: TriggerContext): string => `crmPlatformTest/${n8n.getNode().id}`;
