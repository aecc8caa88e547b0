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
 * Finds the trigger's subscription and updates it, or subscribes. A paused one stays paused. One whose address
 * somebody has changed is replaced: the service counts events accepted there as delivered, and would not
 * recover them.
 *
 * @returns the state without `changed`, since missed events still have to be recovered; the first subscription
 * of a trigger has missed none
 */
export async function openSubscription(
	n8n: IHookFunctions | ITriggerFunctions,
	api: Connection,
	wanted: SubscriptionRequest,
	state: SubscriptionState,
): Promise<{ own: Subscription; state: SubscriptionState; isFirst: boolean }> {
	const found = await findOwnSubscription(api, state.id, wanted.url);
	const isFirst = !found && state.deliveredUntil === undefined;
	const isOurs = found && (isAddress(found.own.url, wanted.url) || isMoved(found.own, wanted, state));
	if (found && !isOurs && found.own.status === 'paused') return { own: found.own, state, isFirst };
	const updated = found && isOurs ? await updateSubscription(api, found.own, wanted) : undefined;
	const isKept = updated !== undefined && (updated.status === 'paused' || isFor(updated, wanted));
	const known = { ...state };
	// Events accepted at n8n's old address were accepted by n8n.
	if (isOurs && !isKept) known.deliveredUntil = await deliveredUntil(api, found, state);
	const opened = isKept
		? { own: updated, secret: knownSecret(updated, state), hint: undefined }
		: await (found ? replaceSubscription(n8n, api, found.own, wanted) : subscribe(n8n, api, wanted));
	const isUsable = opened.secret !== undefined || opened.own.status !== 'active';
	const { own, secret, hint } = isUsable ? opened : await renewSecret(n8n, api, opened.own, wanted);
	const deliversTo = isAddress(own.url, wanted.url) ? wanted.url : state.deliversTo;
	const subscribed = { ...known, ...wanted, id: own.id, deliversTo, changed: undefined };
	if (secret === undefined || secret === state.secret) return { own, state: subscribed, isFirst };
	const hints = [found?.own.secret_hint, hint].filter((one) => typeof one === 'string');
	return { own, state: { ...subscribed, secret, hints }, isFirst };
}

/** Whether n8n's address has changed since it subscribed, and the subscription has not. */
export const isMoved = (own: Subscription, { url }: SubscriptionRequest, { deliversTo }: SubscriptionState): boolean =>
	!isAddress(own.url, url) && deliversTo !== undefined && isAddress(own.url, deliversTo);

export const matchesRequest = (own: Subscription, wanted: SubscriptionRequest, state: SubscriptionState): boolean =>
	own.status === 'active' && isFor(own, wanted) && secretState(own, state) !== 'replaced';

const isFor = (own: Subscription, { url, events }: SubscriptionRequest): boolean =>
	isAddress(own.url, url) && areEvents(own.events, events) && own.status !== 'disabled';

/**
 * Whether the stored secret is the current one. The hint of the service may be masked, missing or unrelated; if
 * it is unreadable, the answer is unknown.
 */
export function secretState(own: Subscription, { id, secret, hints = [] }: SubscriptionState): 'current' | 'replaced' | 'unknown' {
	if (id !== own.id || secret === undefined) return 'replaced';
	const hint = own.secret_hint ?? '';
	const end = /[A-Za-z0-9+/=_-]*$/.exec(hint)?.[0] ?? '';
	const isLegible = /[A-Za-z0-9+/]{2}=*$/.test(end);
	if (isLegible && secret.endsWith(end)) return 'current';
	return isLegible && !hints.includes(hint) ? 'replaced' : 'unknown';
}

const knownSecret = (own: Subscription, state: SubscriptionState): string | undefined =>
	secretState(own, state) === 'current' ? state.secret : undefined;
