import type { IHookFunctions, ITriggerFunctions } from 'n8n-workflow';

import type { Connection } from '../../api/connection';
import { deliveredUntil } from './backlog';
import type { SubscriptionState } from './subscriptionState';
import { renewSecret, replaceSubscription, updateSubscription } from './restoration';
import {
	areEvents,
	findOwnSubscription,
	isAddress,
	subscribe,
	type Subscription,
	type SubscriptionRequest,
} from './subscription';

/**
 * Finds the trigger's subscription and updates it, or subscribes. A paused subscription stays paused. One whose address
 * somebody has changed is replaced: the service counts events accepted there as delivered, and would not
 * recover them.
 *
 * @returns the state without `changed`, since missed events still have to be recovered; the first subscription
 * of a trigger has missed none
 */
export async function openSubscription(
	n8n: IHookFunctions | ITriggerFunctions,
	api: Connection,
	request: SubscriptionRequest,
	state: SubscriptionState,
): Promise<{ subscription: Subscription; state: SubscriptionState; isFirst: boolean }> {
	const found = await findOwnSubscription(api, state.id, request.url);
	const isFirst = !found && state.deliveredUntil === undefined;
	const isOurs = found && (isAddress(found.subscription.url, request.url) || isMoved(found.subscription, request, state));
	if (found && !isOurs && found.subscription.status === 'paused') return { subscription: found.subscription, state, isFirst };
	const updated = found && isOurs ? await updateSubscription(api, found.subscription, request) : undefined;
	const isReused = updated !== undefined && (updated.status === 'paused' || isFor(updated, request));
	const baseState = { ...state };
	// n8n has accepted the events that were accepted at its old address.
	if (isOurs && !isReused) baseState.deliveredUntil = await deliveredUntil(api, found, state);
	const opened = isReused
		? { subscription: updated, secret: hasSecret(updated, state) ? state.secret : undefined }
		: await (found ? replaceSubscription(n8n, api, found.subscription, request) : subscribe(n8n, api, request));
	const isUsable = opened.secret !== undefined || opened.subscription.status !== 'active';
	const { subscription, secret } = isUsable ? opened : await renewSecret(n8n, api, opened.subscription, request);
	const deliversTo = isAddress(subscription.url, request.url) ? request.url : state.deliversTo;
	const subscribed = { ...baseState, ...request, id: subscription.id, deliversTo, changed: undefined };
	if (secret === undefined || secret === state.secret) return { subscription, state: subscribed, isFirst };
	return { subscription, state: { ...subscribed, secret }, isFirst };
}

/** Whether n8n's address has changed since it subscribed, and the subscription has not. */
export const isMoved = (subscription: Subscription, { url }: SubscriptionRequest, { deliversTo }: SubscriptionState): boolean =>
	!isAddress(subscription.url, url) && deliversTo !== undefined && isAddress(subscription.url, deliversTo);

export const matchesRequest = (subscription: Subscription, request: SubscriptionRequest, state: SubscriptionState): boolean =>
	subscription.status === 'active' && isFor(subscription, request) && hasSecret(subscription, state);

const isFor = (subscription: Subscription, { url, events }: SubscriptionRequest): boolean =>
	isAddress(subscription.url, url) && areEvents(subscription.events, events) && subscription.status !== 'disabled';

/** Whether the stored secret is the current one. */
const hasSecret = (subscription: Subscription, { id, secret }: SubscriptionState): boolean =>
	id === subscription.id && secret?.endsWith(subscription.secret_hint) === true;
