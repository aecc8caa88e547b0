import type { IHookFunctions, ITriggerFunctions } from 'n8n-workflow';

import type { Connection } from '../../api/connection';
import type { SubscriptionPlace } from './place';
import {
	areEvents,
	findOwnSubscription,
	isAddress,
	renewSecret,
	subscribe,
	unsubscribe,
	updateSubscription,
	type Subscription,
	type SubscriptionRequest,
} from './subscription';

/**
 * Finds the trigger's subscription and makes it what is wanted, or subscribes. One that is paused stays
 * so. One at another address is made anew: the service counts what was accepted there as delivered, and
 * would not recover it.
 */
export async function openSubscription(
	n8n: IHookFunctions | ITriggerFunctions,
	api: Connection,
	wanted: SubscriptionRequest,
	place: SubscriptionPlace,
): Promise<{ own: Subscription; place: SubscriptionPlace }> {
	let found = await findOwnSubscription(api, place.id, wanted.url);
	if (found && !isAddress(found.own.url, wanted.url)) {
		if (found.own.status === 'paused') return { own: found.own, place };
		await unsubscribe(api, found.own);
		found = undefined;
	}
	const opened = found
		? { own: await updateSubscription(n8n, api, found.own, wanted), secret: knownSecret(found.own, place) }
		: await subscribe(n8n, api, wanted);
	const isUsable = opened.secret !== undefined || opened.own.status !== 'active';
	const { own, secret } = isUsable ? opened : await renewSecret(n8n, api, opened.own, wanted);
	return { own, place: { ...place, ...wanted, id: own.id, ...(secret !== undefined && { secret }) } };
}

export function isAsWanted(own: Subscription, { url, events }: SubscriptionRequest, place: SubscriptionPlace): boolean {
	return (
		isAddress(own.url, url) &&
		areEvents(own.events, events) &&
		own.status === 'active' &&
		(knownSecret(own, place) !== undefined ||
			(place.id === own.id && place.secret !== undefined && !tellsSecret(own)))
	);
}

/** Whether the hint tells secrets apart; it may be masked up to its last characters, missing, or a mask only. */
export const tellsSecret = (own: Subscription): boolean => /[A-Za-z0-9+/]{2}=*$/.test(endOf(own));

const endOf = ({ secret_hint: hint }: Subscription): string => /[A-Za-z0-9+/=_-]*$/.exec(hint ?? '')?.[0] ?? '';

/** The stored secret, if it is known to be the current one. */
function knownSecret(own: Subscription, place: SubscriptionPlace): string | undefined {
	const isCurrent = place.id === own.id && tellsSecret(own) && place.secret?.endsWith(endOf(own));
	return isCurrent ? place.secret : undefined;
}
