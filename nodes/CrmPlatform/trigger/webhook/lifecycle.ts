import type { IHookFunctions } from 'n8n-workflow';

import { connect, type Connection } from '../../api/connection';
import { undefinedIfGone } from '../../api/find';
import { readEventChoice } from '../eventProperties';
import { recoveredSubscriptions, recoveryStart, recoverEvents, recoverHours, stopWithBacklog } from './backlog';
import { isTest, saveState, readState, type SubscriptionState } from './staticData';
import {
	updateSubscription,
	findOwnSubscription,
	subscriptionPath,
	rotateSecret,
	subscribe,
	type Subscription,
	type SubscriptionRequest,
} from './subscription';

/**
 * What n8n calls when a workflow is activated and deactivated, and around a test run, which has an
 * address and so a subscription of its own. All of it can be called again: the subscription is
 * found by the id that was kept, else by n8n's address.
 */
export const subscriptionLifecycle = {
	/** Whether there is nothing to be done. */
	async checkExists(this: IHookFunctions): Promise<boolean> {
		// What was missed has to be asked for, whatever else there is.
		if (recoverHours(this) !== undefined) return false;
		const wanted = wantedBy(this);
		const own = await findOwnSubscription(await connect(this), readState(this).id, wanted.url);
		return (
			own !== undefined &&
			own.url === wanted.url &&
			own.events.join() === wanted.events.join() &&
			own.status !== 'disabled' &&
			secretOf(own, readState(this)) !== undefined
		);
	},

	async create(this: IHookFunctions): Promise<boolean> {
		const wanted = wantedBy(this);
		const api = await connect(this);
		const kept = readState(this);
		const found = await findOwnSubscription(api, kept.id, wanted.url);
		const own = found ? await updateSubscription(this, api, found, wanted) : await subscribe(this, api, wanted);
		const secret = secretOf(own, kept) ?? (await rotateSecret(api, own));
		// Of a subscription that is gone, nobody knows what it has delivered.
		const isSuccessor = kept.id !== undefined && kept.id !== own.id;
		const { instance, workflow } = kept;
		const active = { ...(isSuccessor ? { instance, workflow } : kept), id: own.id, secret };
		saveState(this, active);
		if (own.status === 'paused') {
			this.logger.warn(`${this.getNode().name}: the subscription is paused in the CRM Platform`);
			return true;
		}
		await recoverMissed(this, api, active, own);
		return true;
	},

	async delete(this: IHookFunctions): Promise<boolean> {
		const api = await connect(this);
		const { instance, workflow, id, gap } = readState(this);
		const own = await findOwnSubscription(api, id, addressOf(this));
		const left = own && !isTest(this) ? await stopWithBacklog(api, own, gap) : gap;
		saveState(this, { instance, workflow, ...(left && { gap: left }) });
		if (own) await undefinedIfGone(api.send({ method: 'DELETE', path: subscriptionPath(own.id) }));
		return true;
	},
};

/** @throws Error in the user's words where there is none */
function addressOf(n8n: IHookFunctions): string {
	const url = n8n.getNodeWebhookUrl('default');
	if (url !== undefined) return url;
	throw new Error('n8n has no address for this trigger. Save the workflow first.');
}

/** @throws Error in the user's words where n8n has no address or no event was chosen */
function wantedBy(n8n: IHookFunctions): SubscriptionRequest {
	const name = `n8n: ${n8n.getWorkflow().name ?? ''} / ${n8n.getNode().name}`;
	const { events } = readEventChoice(n8n);
	return { url: addressOf(n8n), events, description: name.slice(0, 255) };
}

/** The secret, where it is known: just answered, or kept and still the current one. */
function secretOf({ id, secret, secret_hint: hint }: Subscription, kept: SubscriptionState): string | undefined {
	if (secret) return secret;
	if (kept.id !== id || !kept.secret?.endsWith(hint ?? '')) return undefined;
	return kept.secret;
}

/** Asks for what was missed, if the user wants it; what is kept tells that it was done. */
async function recoverMissed(
	n8n: IHookFunctions,
	api: Connection,
	{ gap, ...kept }: SubscriptionState & { id: string },
	own: Subscription,
): Promise<void> {
	const hours = recoverHours(n8n);
	if (hours === undefined) return saveState(n8n, kept);
	const since = gap?.from ?? kept.since ?? own.created_at;
	await recoverEvents(api, own.id, recoveryStart(since, hours, Date.now()));
	saveState(n8n, { ...kept, since, ...(gap && { gap: { ...gap, asked: true } }) });
	recoveredSubscriptions.add(own.id);
}
