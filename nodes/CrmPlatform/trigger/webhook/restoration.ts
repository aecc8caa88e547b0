import { NodeOperationError, type IDataObject, type IHookFunctions, type ITriggerFunctions } from 'n8n-workflow';

import type { Connection } from '../../api/connection';
import { isAnsweredWith } from '../../api/fetchRecord';
import { refusedSubscription } from '../../api/http/statuses';
import { deleteSubscription, newKeyFor, subscriptionPath } from '../../api/webhookSubscriptions';
import {
	areEvents,
	isAddress,
	ownAt,
	parseSubscription,
	secretIn,
	subscribe,
	type SecretOf,
	type Subscription,
	type SubscriptionRequest,
} from './subscription';

/**
 * Updates a subscription to the request, if the service supports it. A subscription that the service has
 * disabled is enabled again; one that somebody has paused stays paused.
 *
 * @returns the subscription as the service has it now; unchanged if the service refuses
 */
export async function updateSubscription(
	api: Connection,
	subscription: Subscription,
	{ url, events }: SubscriptionRequest,
): Promise<Subscription> {
	const change: IDataObject = {};
	if (!isAddress(subscription.url, url)) change.url = url;
	if (!areEvents(subscription.events, events)) change.events = events;
	if (subscription.status === 'disabled') change.status = 'active';
	const update = (await api.describe('/webhooks'))?.update;
	if (Object.keys(change).length === 0 || !update || update.replaces) return subscription;
	const changed = await undefinedIfRefused(api.send({ method: 'PATCH', path: subscriptionPath(subscription.id), body: change }));
	return changed ? parseSubscription(changed.body) : subscription;
}

async function undefinedIfRefused<T>(request: Promise<T>): Promise<T | undefined> {
	return await request.catch((error: unknown) => {
		if (isAnsweredWith(error, ...refusedSubscription)) return undefined;
		throw error;
	});
}

/**
 * Replaces a subscription that the service does not change. The old one is deleted last, since the service may
 * refuse n8n's address.
 *
 * @throws NodeOperationError if the service refuses the replacement
 */
export async function replaceSubscription(
	n8n: IHookFunctions | ITriggerFunctions,
	api: Connection,
	oldSubscription: Subscription,
	request: SubscriptionRequest,
): Promise<SecretOf> {
	const end = async (subscription: Subscription): Promise<void> => {
		await deleteSubscription(api, subscription.id).catch((error: Error) => {
			// The new subscription exists, and a repetition would create another.
			n8n.logger.warn(`${n8n.getNode().name}: Delete the webhook ${subscription.id} in the CRM. The trigger no longer needs it and could not delete it: ${error.message}`);
		});
	};
	// The response to an earlier request may have been lost, and its secret with it.
	const lostSubscriptions: Subscription[] = [];
	for await (const subscription of ownAt(api, request.url)) {
		if (subscription.id !== oldSubscription.id) lostSubscriptions.push(subscription);
	}
	for (const subscription of lostSubscriptions) await end(subscription);
	const replacement = await subscribe(n8n, api, request).catch(async (error: unknown) => {
		// A service may accept each address only once.
		const isAddressTaken = isAnsweredWith(error, 409) && isAddress(oldSubscription.url, request.url);
		if (!isAddressTaken) return explainUnreached(n8n, oldSubscription, error);
		await deleteSubscription(api, oldSubscription.id);
		return await subscribe(n8n, api, request);
	});
	await end(oldSubscription);
	return replacement;
}

/**
 * Renews an unknown secret: by rotation (for a day, the service also signs with the old one) or, if the service
 * does not support rotation or returns no secret, by creating another subscription.
 *
 * @throws Error in the user's words if the service returns no secret
 */
export async function renewSecret(
	n8n: IHookFunctions | ITriggerFunctions,
	api: Connection,
	subscription: Subscription,
	request: SubscriptionRequest,
): Promise<SecretOf> {
	const rotate = (await api.describe('/webhooks'))?.actions['rotate-secret'];
	if (rotate) {
		const rotation = { method: 'POST', path: `${subscriptionPath(subscription.id)}/rotate-secret`, ...newKeyFor(rotate) } as const;
		const renewed = secretIn((await undefinedIfRefused(api.send(rotation)))?.body);
		if (renewed.secret !== undefined) return { subscription, ...renewed };
	}
	await deleteSubscription(api, subscription.id);
	const renewed = await subscribe(n8n, api, request);
	if (renewed.secret !== undefined) return renewed;
	throw new Error('The CRM returned no signing secret, so deliveries could not be verified.');
}

/** @throws NodeOperationError if the service refuses a replacement, otherwise the error itself */
function explainUnreached(n8n: IHookFunctions | ITriggerFunctions, { id }: Subscription, error: unknown): never {
	if (!isAnsweredWith(error, ...refusedSubscription)) throw error;
	throw new NodeOperationError(
		n8n.getNode(),
		`No event reaches this trigger: the CRM refuses to change the webhook ${id} or to create another (${error.message})`,
		{
			description:
				'Check in the CRM whether the credential may change webhooks and whether the account has reached its maximum number of webhooks, then publish the workflow again.',
		},
	);
}
