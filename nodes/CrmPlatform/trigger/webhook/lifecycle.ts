import type { IHookFunctions } from 'n8n-workflow';

import { connect } from '../../api/connection';
import { deleteSubscription } from '../../api/webhookSubscriptions';
import { readEventParameters, refuseUnknownFields } from '../eventProperties';
import { readOnlyIf } from '../eventFilter';
import { serialized } from '../storedState';
import { isStartedByN8n } from '../triggerContext';
import { describeGap, findDeliveredUntil, recoverHours, readUndelivered, recoverMissed } from './backlog';
import { findOwnSubscription, isTest, ensureSubscription, readSubscription, storeSubscription, type SubscriptionRequest } from './subscription';

/**
 * n8n calls these on activation, on deactivation, and around a test run, which has its own address and so its own subscription. Each call can be
 * repeated: the subscription is found by its stored id, else by n8n's address. Nothing here pauses it: a paused one was paused in the CRM.
 */
export const subscriptionLifecycle = {
	/** Whether there is nothing left to do for `create`. */
	async checkExists(this: IHookFunctions): Promise<boolean> {
		const state = readSubscription(this);
		if (!isStartedByN8n(this) || state.id === undefined || state.secret === undefined) return false;
		// The trigger starts even if the service does not answer; `watchSubscription` does the rest.
		storeSubscription(this, { ...state, ...requestOf(this) });
		return true;
	},

	/** @throws NodeApiError or NodeOperationError if the trigger would end up without an active subscription */
	async create(this: IHookFunctions): Promise<boolean> {
		return await serialized(this, async () => {
			const api = await connect(this);
			const request = requestOf(this);
			const stored = readSubscription(this);
			if (!isStartedByN8n(this)) await refuseUnknownFields(api, request.events, readEventParameters(this).filter.changedFields);
			const onlyIf = await readOnlyIf(this, api, request.events, stored.onlyIf);
			const hours = recoverHours(this);
			const ensured = await ensureSubscription(this, api, request, { ...stored, onlyIf }, hours);
			storeSubscription(this, ensured.state);
			const gap = await recoverMissed(this, api, ensured, hours);
			const warn = (text: string) => this.logger.warn(`${this.getNode().name}: ${text}`);
			if (gap && hours !== undefined) warn(describeGap(gap.reason));
			if (isStartedByN8n(this) && stored.deliveredUntil === undefined) warn(describeGap(forgotten));
			return true;
		});
	},

	async delete(this: IHookFunctions): Promise<boolean> {
		return await serialized(this, async () => {
			const api = await connect(this);
			const state = readSubscription(this);
			const found = await findOwnSubscription(api, state.id, addressOf(this));
			let { deliveredUntil } = state;
			if (found && !isTest(this)) {
				const undelivered = await readUndelivered(api, found.subscription, state, true).catch(() => undefined);
				deliveredUntil = await findDeliveredUntil(api, found, state, undelivered?.missed);
			}
			if (found) await deleteSubscription(api, found.subscription.id);
			storeSubscription(this, { deliveredUntil });
			return true;
		});
	},
};

const forgotten = 'because n8n has lost what this trigger had stored';

/** @throws Error in the user's words if n8n has no address for the trigger */
function addressOf(n8n: IHookFunctions): string {
	const url = n8n.getNodeWebhookUrl('default');
	if (url !== undefined) return url;
	throw new Error('This trigger has no webhook URL yet. Save the workflow first.');
}

/** @throws Error in the user's words if n8n has no address, or if no event is chosen */
function requestOf(n8n: IHookFunctions): SubscriptionRequest {
	return { url: addressOf(n8n), events: readEventParameters(n8n).events };
}
