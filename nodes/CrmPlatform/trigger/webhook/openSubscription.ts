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
		? { subscription: updated, secret: currentSecret(updated, state), hint: undefined }
		: await (found ? replaceSubscription(n8n, api, found.subscription, request) : subscribe(n8n, api, request));
	const isUsable = opened.secret !== undefined || opened.subscription.status !== 'active';
	const { subscription, secret, hint } = isUsable ? opened : await renewSecret(n8n, api, opened.subscription, request);
	const deliversTo = isAddress(subscription.url, request.url) ? request.url : state.deliversTo;
	const subscribed = { ...baseState, ...request, id: subscription.id, deliversTo, changed: undefined };
	if (secret === undefined || secret === state.secret) return { subscription, state: subscribed, isFirst };
	const hints = [found?.subscription.secret_hint, hint].filter((value) => typeof value === 'string');
	return { subscription, state: { ...subscribed, secret, hints }, isFirst };
}

/** Whether n8n's address has changed since it subscribed, and the subscription has not. */
export const isMoved = (subscription: Subscription, { url }: SubscriptionRequest, { deliversTo }: SubscriptionState): boolean =>
	!isAddress(subscription.url, url) && deliversTo !== undefined && isAddress(subscription.url, deliversTo);

export const matchesRequest = (subscription: Subscription, request: SubscriptionRequest, state: SubscriptionState): boolean =>
	subscription.status === 'active' && isFor(subscription, request) && secretState(subscription, state) !== 'replaced';

const isFor = (subscription: Subscription, { url, events }: SubscriptionRequest): boolean =>
	isAddress(subscription.url, url) && areEvents(subscription.events, events) && subscription.status !== 'disabled';

/**
 * Whether the stored secret is the current one. The hint of the service may be masked, missing or unrelated; if
 * it is unreadable, the answer is unknown.
 */
export function secretState(subscription: Subscription, { id, secret, hints = [] }: SubscriptionState): 'current' | 'replaced' | 'unknown' {
	if (id !== subscription.id || secret === undefined) return 'replaced';
	const hint = subscription.secret_hint ?? '';
	const end = /[A-Za-z0-9+/=_-]*$/.exec(hint)?.[0] ?? '';
	const isLegible = /[A-Za-z0-9+/]{2}=*$/.test(end);
	if (isLegible && secret.endsWith(end)) return 'current';
	return isLegible && !hints.includes(hint) ? 'replaced' : 'unknown';
}

const currentSecret = (subscription: Subscription, state: SubscriptionState): string | undefined =>
	secretState(subscription, state) === 'current' ? state.secret : undefined;
