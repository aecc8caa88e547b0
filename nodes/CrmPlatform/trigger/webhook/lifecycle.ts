import { NodeOperationError, type IHookFunctions } from 'n8n-workflow';

import { connect, type Connection } from '../../api/connection';
import { undefinedIfGone } from '../../api/find';
import { readEventChoice } from '../eventProperties';
import { findBacklogStart, recoverEvents, recoverHours, recoveredSubscriptions, recoveryStart } from './backlog';
import { isTest, readState, saveState, type SubscriptionState } from './staticData';
import {
	findOwnSubscription,
	rotateSecret,
	subscribe,
	subscriptionPath,
	updateSubscription,
	type Subscription,
	type SubscriptionRequest,
} from './subscription';

/**
 * What n8n calls on activation, on deactivation, and around a test run, which has an address and so
 * a subscription of its own. Every call can be repeated: the subscription is found by its stored id,
 * else by n8n's address.
 *
 * The subscription is never paused from here, so a paused one was paused by somebody in the CRM.
 */
export const subscriptionLifecycle = {
	/** Whether there is nothing left to do for `create`. */
	async checkExists(this: IHookFunctions): Promise<boolean> {
		// Missed events have to be recovered in any case.
		if (recoverHours(this) !== undefined) return false;
		const wanted = requestOf(this);
		const own = await findOwnSubscription(await connect(this), readState(this).id, wanted.url);
		return (
			own !== undefined &&
			own.url === wanted.url &&
			own.events.join() === wanted.events.join() &&
			own.status === 'active' &&
			secretOf(own, readState(this)) !== undefined
		);
	},

	/** @throws NodeApiError or NodeOperationError where the trigger would end up without an active subscription */
	async create(this: IHookFunctions): Promise<boolean> {
		const wanted = requestOf(this);
		const api = await connect(this);
		const stored = readState(this);
		const found = await findOwnSubscription(api, stored.id, wanted.url);
		const own = found ? await updateSubscription(this, api, found, wanted) : await subscribe(this, api, wanted);
		if (own.status !== 'active') throw inactive(this, own);
		const secret = secretOf(own, stored) ?? (await rotateSecret(api, own));
		// Nobody knows what a subscription had delivered that was deleted in the CRM.
		const isReplacement = stored.id !== undefined && stored.id !== own.id;
		const { instance, workflow, since, backlogStart } = stored;
		const isContinued = !isReplacement && recoverHours(this) !== undefined;
		const start = (isContinued ? (backlogStart ?? since) : undefined) ?? own.created_at;
		await recoverMissed(this, api, own, start);
		saveState(this, { instance, workflow, id: own.id, secret, since: start });
		return true;
	},

	async delete(this: IHookFunctions): Promise<boolean> {
		const api = await connect(this);
		const { instance, workflow, id, since, backlogStart } = readState(this);
		const own = await findOwnSubscription(api, id, addressOf(this));
		const state: SubscriptionState = { instance, workflow };
		// A stored start means that its recovery has failed and is still to be done.
		const start = backlogStart ?? (own && !isTest(this) ? await findBacklogStart(api, own, since) : undefined);
		if (start !== undefined) state.backlogStart = start;
		if (own) await undefinedIfGone(api.send({ method: 'DELETE', path: subscriptionPath(own.id) }));
		saveState(this, state);
		return true;
	},
};

function inactive(n8n: IHookFunctions, { id, status }: Subscription): NodeOperationError {
	return new NodeOperationError(
		n8n.getNode(),
		`The webhook of this trigger is ${status} in the CRM Platform, so no event would start the workflow`,
		{ description: `Resume the webhook ${id} in the CRM Platform, or delete it there, then publish the workflow again.` },
	);
}

/** @throws Error in the user's words where n8n has no address for the trigger */
function addressOf(n8n: IHookFunctions): string {
	const url = n8n.getNodeWebhookUrl('default');
	if (url !== undefined) return url;
	throw new Error('This trigger has no webhook URL yet. Save the workflow first.');
}

/** @throws Error in the user's words where n8n has no address, or no event is chosen */
function requestOf(n8n: IHookFunctions): SubscriptionRequest {
	const name = `n8n: ${n8n.getWorkflow().name ?? ''} / ${n8n.getNode().name}`;
	const { events } = readEventChoice(n8n);
	return { url: addressOf(n8n), events, description: name.slice(0, 255) };
}

/** The secret where it is known: in the answer, or stored and still the current one. */
function secretOf({ id, secret, secret_hint: hint }: Subscription, stored: SubscriptionState): string | undefined {
	if (secret) return secret;
	if (stored.id !== id || !stored.secret?.endsWith(hint ?? '')) return undefined;
	return stored.secret;
}

async function recoverMissed(n8n: IHookFunctions, api: Connection, { id }: Subscription, since: string): Promise<void> {
	const hours = recoverHours(n8n);
	if (hours === undefined) return;
	await recoverEvents(api, id, recoveryStart(since, hours, Date.now()));
	recoveredSubscriptions.add(id);
}
