import { NodeApiError, NodeOperationError, type IDataObject, type IHookFunctions } from 'n8n-workflow';
import { z } from 'zod';

import type { Connection } from '../../api/connection';
import { findRecord } from '../../api/find';
import { freshKey } from '../../api/http/idempotency';
import { readPages } from '../../api/lists/pages';
import { path } from '../../api/http/path';
import type { WriteDescription } from '../../api/openapi/writing';

const subscription = z.object({
	id: z.string(),
	url: z.string(),
	events: z.array(z.string()),
	status: z.string(),
	created_at: z.string(),
	updated_at: z.string(),
	failing_since: z.string().nullish(),
	/** The last characters of the secret. */
	secret_hint: z.string().nullish(),
	/** In the answers to create and rotate only. */
	secret: z.string().nullish(),
});

/** A subscription to events in the service. */
export type Subscription = z.infer<typeof subscription>;

/** The subscription a trigger needs. */
export interface SubscriptionRequest {
	url: string;
	events: string[];
	/** For the people who look at the service's list of subscriptions. */
	description: string;
}

const collection = '/v1/webhooks';
export const subscriptionPath = (id: string): string => collection + path`/${id}`;

/**
 * Finds the trigger's own subscription: by its id, else by n8n's address, which is unique to it.
 *
 * @param id of the subscription it created, where that is known
 */
export async function findOwnSubscription(
	api: Connection,
	id: string | undefined,
	url: string,
): Promise<Subscription | undefined> {
	const made = id === undefined ? undefined : await findRecord(api, subscriptionPath(id));
	if (made) return parse(made);
	const list = (await api.describe('/webhooks'))?.list;
	if (!list) throw new Error('The API description does not include /webhooks.');
	const query = list.filters.some(({ name }) => name === 'url') ? { url } : {};
	for await (const { records } of readPages(api.send, { path: collection, list, query })) {
		const own = records.find((record) => record.url === url);
		if (own) return parse(own);
	}
	return undefined;
}

/** Creates a subscription. The answer holds its secret. */
export async function subscribe(
	n8n: IHookFunctions,
	api: Connection,
	wanted: SubscriptionRequest,
): Promise<Subscription> {
	const create = (await api.describe('/webhooks'))?.create;
	const request = { method: 'POST', path: collection, body: wanted, ...newKeyFor(create) } as const;
	const { body } = await api.send(request).catch((error) => explainRefusal(n8n, wanted.url, error));
	return parse(body);
}

/**
 * Changes a subscription to what is wanted. One that the service has disabled is enabled again; one
 * that somebody has paused stays paused.
 */
export async function updateSubscription(
	n8n: IHookFunctions,
	api: Connection,
	own: Subscription,
	{ url, events }: SubscriptionRequest,
): Promise<Subscription> {
	const change: IDataObject = {};
	if (own.url !== url) change.url = url;
	if (own.events.join() !== events.join()) change.events = events;
	if (own.status === 'disabled') change.status = 'active';
	if (Object.keys(change).length === 0) return own;
	const request = { method: 'PATCH', path: subscriptionPath(own.id), body: change } as const;
	const { body } = await api.send(request).catch((error) => explainRefusal(n8n, url, error));
	return parse(body);
}

/**
 * Rotates the secret. The service signs with the old one as well for a day.
 *
 * @throws Error in the user's words when the answer has no secret
 */
export async function rotateSecret(api: Connection, { id }: Subscription): Promise<string> {
	const rotate = (await api.describe('/webhooks'))?.actions['rotate-secret'];
	const request = { method: 'POST', path: `${subscriptionPath(id)}/rotate-secret`, ...newKeyFor(rotate) } as const;
	const { secret } = parse((await api.send(request)).body);
	if (secret) return secret;
	throw new Error('The service returned no signing secret, so deliveries could not be verified.');
}

/** Makes a write safe to retry. */
export function newKeyFor(write: WriteDescription | undefined) {
	const header = write?.idempotencyHeader;
	return header === undefined ? {} : { idempotency: { header, key: freshKey(write?.idempotencyKey) } };
}

/** @throws Error in the user's words when the answer is not a subscription */
function parse(body: unknown): Subscription {
	const parsed = subscription.safeParse(body);
	if (parsed.success) return parsed.data;
	throw new Error(
		'The response of the service is not a webhook. Check that the base URL in the credential is the address of the API.',
	);
}

const refusal = z.object({
	errors: z.array(z.object({ pointer: z.string().optional(), detail: z.string().optional() })),
});

/** @throws NodeOperationError where the service refuses n8n's address, else the error itself */
function explainRefusal(n8n: IHookFunctions, url: string, error: unknown): never {
	const parsed = refusal.safeParse(error instanceof NodeApiError ? error.context.data : undefined);
	const about = parsed.data?.errors.find(({ pointer }) => pointer === '/url');
	if (!about) throw error;
	throw new NodeOperationError(
		n8n.getNode(),
		`The service cannot deliver to this n8n at ${url}: ${about.detail ?? 'it rejected the URL'}`,
		{
			description:
				'It needs a public HTTPS URL. Set N8N_WEBHOOK_URL in n8n, or use the CRM Platform Poll Trigger, which works without one.',
		},
	);
}
