import {
	NodeApiError,
	NodeOperationError,
	type ITriggerFunctions,
	type ITriggerResponse,
} from 'n8n-workflow';

import { connect } from '../../api/connection';
import { systemClock } from '../../api/http/clock';
import { storeOnly } from '../unwritable';
import { deliveredUntil, describeGap, isFailing, recoverEvents, recoverHours } from './backlog';
import { inactive } from './lifecycle';
import { isMoved, matchesRequest, openSubscription, secretState } from './openSubscription';
import { isStart, readSubscription, storeSubscription, type SubscriptionState } from './subscriptionState';
import { findSubscription, type Subscription, type SubscriptionRequest } from './subscription';
import { inTurn } from './turns';

/** Milliseconds between two checks of the subscription, before the first check after a start, and after a failure. */
const interval = 10 * 60_000;
const startDelay = 5_000;
const retryDelay = 60_000;

/** Number of consecutive failed checks before the user is notified; an outage of the service loses nothing. */
const maxFailures = 5;

/** Milliseconds after which n8n stores how far events have been delivered, even if nothing has happened. */
const maxTimeUnstored = 12 * 60 * 60_000;

/** Ends the watch of each trigger of this process. */
const watches = new Map<string, AbortController>();

/**
 * Regularly checks that the subscription of a published workflow exists, is active and matches the workflow. A
 * subscription that somebody has deleted, disabled or changed is restored, and missed events are recovered. So
 * are those missed while n8n was down, since n8n calls this at each start.
 */
export function watchSubscription(n8n: ITriggerFunctions, clock = systemClock): ITriggerResponse {
	const hours = recoverHours(n8n);
	const closing = new AbortController();
	const { signal } = closing;
	const name = `${n8n.getInstanceId()} ${String(n8n.getWorkflow().id)} ${n8n.getNode().id}`;
	// n8n may not have closed the previous watch.
	watches.get(name)?.abort();
	watches.set(name, closing);
	/** Whether all missed events have been recovered. */
	let isWell = !isStart(n8n);
	/** Whether the secret was replaced since deliveries began to fail. */
	let isRenewed = false;
	let isFirst = isStart(n8n);
	let wait = isFirst ? startDelay : interval;
	let reported = '';
	let failures = 0;
	let saved = clock.now();

	const keep = (state: SubscriptionState, isUrgent: boolean): void => {
		storeSubscription(n8n, state);
		if (!isUrgent && clock.now() - saved < maxTimeUnstored) return;
		saved = clock.now();
		storeOnly(n8n);
	};

	/** Once for each problem: as a failed execution, which starts the error workflow. */
	const report = (error: unknown): void => {
		const isKnown = error instanceof NodeApiError || error instanceof NodeOperationError;
		const nodeError = isKnown ? error : new NodeOperationError(n8n.getNode(), error as Error);
		if (reported !== nodeError.message) n8n.saveFailedExecution(nodeError);
		reported = nodeError.message;
	};

	const look = async (): Promise<void> => {
		const state = readSubscription(n8n);
		const { id, url, events } = state;
		// The workflow is not published, or its publish has failed.
		if (signal.aborted || id === undefined || url === undefined || events === undefined) return;
		const api = await connect(n8n, clock);
		const subscriptionRequest = { url, events };
		const found = await findSubscription(api, id);
		const subscription = found?.subscription;
		const fails = subscription !== undefined && (await isFailing(api, subscription));
		// Deliveries may fail because another client has replaced the secret, which the service does not
		// report.
		const isDoubtful = fails && !isRenewed && subscription.status === 'active' && secretState(subscription, state) === 'unknown';
		if (!found || isDoubtful || !matchesRequest(found.subscription, subscriptionRequest, state)) {
			isWell = false;
			const opened = await openSubscription(n8n, api, subscriptionRequest, state);
			if (opened.subscription.status !== 'active') {
				// It may have been moved to n8n's new address.
				if (opened.state.deliversTo !== state.deliversTo) keep(opened.state, true);
				report(inactive(n8n, opened.subscription));
				return;
			}
			isRenewed = true;
			const restored = isDoubtful ? describeRenewed(id) : describeRestored(id, subscription, subscriptionRequest, state);
			n8n.logger.warn(`${n8n.getNode().name}: ${restored}`);
			// Before the recovery, which is repeated if it fails.
			keep(opened.state, true);
			const gap = await recoverEvents(n8n, api, opened.state, hours);
			if (gap) report(new Error(`${restored}. ${describeGap(gap)}`));
			else if (isDoubtful) report(new Error(restored));
			storeSubscription(n8n, { ...opened.state, changed: opened.subscription.updated_at });
			isWell = true;
			return;
		}
		const { updated_at: changed } = found.subscription;
		// Since the last check, the subscription may have been paused or changed to other events.
		const isChanged = changed !== state.changed;
		// The service may wait hours before it retries deliveries that failed while n8n was down.
		const isDue = isChanged || isFirst || (!isWell && !fails);
		const gap = isDue ? await recoverEvents(n8n, api, state, hours) : undefined;
		isFirst = false;
		// Pending deliveries include those just recovered.
		const until = await deliveredUntil(api, found, { ...state, changed, deliversTo: url });
		if (fails) {
			// Other processes may have an older secret, if something has reset the static data.
			keep({ ...state, changed }, isWell || clock.now() - saved >= interval);
			wait = retryDelay;
		} else {
			isRenewed = false;
			reported = '';
			keep({ ...state, deliveredUntil: until, changed, deliversTo: url }, state.deliversTo !== url);
		}
		isWell = !fails;
		const isMissing = gap && gap.before !== Infinity && (isChanged || Date.parse(until) < gap.before);
		if (isMissing) report(new Error(describeGap(gap)));
	};

	const run = async (): Promise<void> => {
		while (!signal.aborted) {
			await clock.sleep(wait, signal).catch(() => undefined);
			try {
				wait = interval;
				await inTurn(n8n, look);
				failures = 0;
			} catch (error) {
				failures += 1;
				n8n.logger.warn(`${n8n.getNode().name}: ${(error as Error).message}`);
				if (failures === maxFailures) report(error);
				wait = failures < maxFailures ? retryDelay : interval;
			}
		}
	};
	void run();

	return {
		closeFunction: async () => {
			closing.abort();
			if (watches.get(name) === closing) watches.delete(name);
		},
	};
}

function describeRestored(id: string, subscription: Subscription | undefined, subscriptionRequest: SubscriptionRequest, state: SubscriptionState): string {
	if (!subscription) return `The webhook ${id} was deleted in the CRM Platform. The trigger has subscribed again`;
	if (isMoved(subscription, subscriptionRequest, state)) {
		return `n8n has a new address. The webhook ${id} now delivers to ${subscriptionRequest.url} instead of ${subscription.url}. Events that another program accepted at the old address are not delivered again`;
	}
	const change = subscription.status === 'active' ? 'changed' : subscription.status;
	return `The webhook ${id} was ${change} in the CRM Platform. The trigger has restored it`;
}

const describeRenewed = (id: string): string =>
	`The deliveries of the webhook ${id} fail, and the CRM Platform does not show whether its secret was replaced. The trigger has replaced the secret`;
