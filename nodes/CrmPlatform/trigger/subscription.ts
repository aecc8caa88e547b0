import type { IHookFunctions } from 'n8n-workflow';

import { connect, type Connection } from '../api/connection';
import { unlessGone } from '../api/find';
import { readEventChoice } from './eventProperties';
import { asked, notOlder, recover, recoverHours, stop } from './gap';
import { isTest, keep, readKept, type Kept } from './kept';
import {
	bring,
	findOwn,
	pathOf,
	rotateSecret,
	subscribe,
	type Subscription,
	type Wanted,
} from './ownSubscription';

/**
 * What n8n calls when a workflow is activated and deactivated, and around a test run, which has an
 * address and so a subscription of its own. All of it can be called again: the subscription is
 * found by the id that was kept, else by n8n's address.
 */
export const subscription = {
	/** Whether there is nothing to be done. */
	async checkExists(this: IHookFunctions): Promise<boolean> {
		// What was missed has to be asked for, whatever else there is.
		if (recoverHours(this) !== undefined) return false;
		const wanted = wantedBy(this);
		const own = await findOwn(await connect(this), readKept(this).id, wanted.url);
		return (
			own !== undefined &&
			own.url === wanted.url &&
			own.events.join() === wanted.events.join() &&
			own.status !== 'disabled' &&
			secretOf(own, readKept(this)) !== undefined
		);
	},

	async create(this: IHookFunctions): Promise<boolean> {
		const wanted = wantedBy(this);
		const api = await connect(this);
		const kept = readKept(this);
		const found = await findOwn(api, kept.id, wanted.url);
		const own = found ? await bring(this, api, found, wanted) : await subscribe(this, api, wanted);
		const secret = secretOf(own, kept) ?? (await rotateSecret(api, own));
		// Of a subscription that is gone, nobody knows what it has delivered.
		const isSuccessor = kept.id !== undefined && kept.id !== own.id;
		const { instance, workflow } = kept;
		const active = { ...(isSuccessor ? { instance, workflow } : kept), id: own.id, secret };
		keep(this, active);
		if (own.status === 'paused') {
			this.logger.warn(`${this.getNode().name}: the subscription is paused in the CRM Platform`);
			return true;
		}
		await recoverMissed(this, api, active, own);
		return true;
	},

	async delete(this: IHookFunctions): Promise<boolean> {
		const api = await connect(this);
		const { instance, workflow, id, gap } = readKept(this);
		const own = await findOwn(api, id, addressOf(this));
		const left = own && !isTest(this) ? await stop(api, own, gap) : gap;
		keep(this, { instance, workflow, ...(left && { gap: left }) });
		if (own) await unlessGone(api.send({ method: 'DELETE', path: pathOf(own.id) }));
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
function wantedBy(n8n: IHookFunctions): Wanted {
	const name = `n8n: ${n8n.getWorkflow().name ?? ''} / ${n8n.getNode().name}`;
	const { events } = readEventChoice(n8n);
	return { url: addressOf(n8n), events, description: name.slice(0, 255) };
}

/** The secret, where it is known: just answered, or kept and still the current one. */
function secretOf({ id, secret, secret_hint: hint }: Subscription, kept: Kept): string | undefined {
	if (secret) return secret;
	if (kept.id !== id || !kept.secret?.endsWith(hint ?? '')) return undefined;
	return kept.secret;
}

/** Asks for what was missed, if the user wants it; what is kept tells that it was done. */
async function recoverMissed(
	n8n: IHookFunctions,
	api: Connection,
	{ gap, ...kept }: Kept & { id: string },
	own: Subscription,
): Promise<void> {
	const hours = recoverHours(n8n);
	if (hours === undefined) return keep(n8n, kept);
	const since = gap?.from ?? kept.since ?? own.created_at;
	await recover(api, own.id, notOlder(since, hours, Date.now()));
	keep(n8n, { ...kept, since, ...(gap && { gap: { ...gap, asked: true } }) });
	asked.add(own.id);
}
