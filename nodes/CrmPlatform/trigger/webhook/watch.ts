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
import { isAsWanted, isMoved, openSubscription, secretState } from './openSubscription';
import { isStart, readSubscription, storeSubscription, type SubscriptionState } from './subscriptionState';
import { findSubscription, type Subscription, type SubscriptionRequest } from './subscription';
import { inTurn } from './turns';

/** Milliseconds between two looks at the subscription, before the first after a start, and after a failure. */
const interval = 10 * 60_000;
const untilFirst = 5_000;
const afterFailure = 60_000;

/** Looks in a row that fail before the user is told; an outage of the service loses nothing. */
const maxFailures = 5;

/** Milliseconds after which n8n stores how far events have been delivered, even if nothing has happened. */
const maxTimeUnstored = 12 * 60 * 60_000;

/** What ends the watch of each trigger of this process. */
const watches = new Map<string, AbortController>();

/**
 * Looks now and then whether the subscription of a published workflow is there, active, and as the
 * workflow needs it. One that somebody has deleted, disabled or changed is restored, and what it has
 * missed is recovered; so is what was missed while n8n was down, as n8n calls this at each start.
 */
export function watchSubscription(n8n: ITriggerFunctions, clock = systemClock): ITriggerResponse {
	const hours = recoverHours(n8n);
	const closing = new AbortController();
	const { signal } = closing;
	const name = `${n8n.getInstanceId()} ${String(n8n.getWorkflow().id)} ${n8n.getNode().id}`;
	// n8n may not have closed the one before.
	watches.get(name)?.abort();
	watches.set(name, closing);
	/** Whether nothing can have been missed that was not recovered. */
	let isWell = !isStart(n8n);
	/** Whether the secret was replaced since the deliveries fail. */
	let isRenewed = false;
	let isFirst = isStart(n8n);
	let wait = isFirst ? untilFirst : interval;
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
		const shown = isKnown ? error : new NodeOperationError(n8n.getNode(), error as Error);
		if (reported !== shown.message) n8n.saveFailedExecution(shown);
		reported = shown.message;
	};

	const look = async (): Promise<void> => {
		const state = readSubscription(n8n);
		const { id, url, events } = state;
		// Not published, or the publish has failed.
		if (signal.aborted || id === undefined || url === undefined || events === undefined) return;
		const api = await connect(n8n, clock);
		const wanted = { url, events };
		const found = await findSubscription(api, id);
		const seen = found?.own;
		const fails = seen !== undefined && (await isFailing(api, seen));
		// Deliveries may fail for a secret that another client has replaced: the service does not tell.
		const isDoubtful = fails && !isRenewed && seen.status === 'active' && secretState(seen, state) === 'unknown';
		if (!found || isDoubtful || !isAsWanted(found.own, wanted, state)) {
			isWell = false;
			const opened = await openSubscription(n8n, api, wanted, state);
			if (opened.own.status !== 'active') {
				// It may have been moved to n8n's new address.
				if (opened.state.deliversTo !== state.deliversTo) keep(opened.state, true);
				report(inactive(n8n, opened.own));
				return;
			}
			isRenewed = true;
			const restored = isDoubtful ? describeRenewed(id) : describeRestored(id, seen, wanted, state);
			n8n.logger.warn(`${n8n.getNode().name}: ${restored}`);
			// Before the recovery, which is repeated if it fails.
			keep(opened.state, true);
			const gap = await recoverEvents(n8n, api, opened.state, hours);
			if (gap) report(new Error(`${restored}. ${describeGap(gap)}`));
			else if (isDoubtful) report(new Error(restored));
			storeSubscription(n8n, { ...opened.state, changed: opened.own.updated_at });
			isWell = true;
			return;
		}
		const { updated_at: changed } = found.own;
		// It may have been paused, or asked for other events, since the last look.
		const isChanged = changed !== state.changed;
		// The service may try again hours later what has failed while n8n was down.
		const isDue = isChanged || isFirst || (!isWell && !fails);
		const gap = isDue ? await recoverEvents(n8n, api, state, hours) : undefined;
		isFirst = false;
		// What was recovered just now is among the deliveries that are pending.
		const until = await deliveredUntil(api, found, { ...state, changed, deliversTo: url });
		if (fails) {
			// Other processes may have an older secret, if something has set the static data back.
			keep({ ...state, changed }, isWell || clock.now() - saved >= interval);
			wait = afterFailure;
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
				wait = failures < maxFailures ? afterFailure : interval;
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

function describeRestored(id: string, seen: Subscription | undefined, wanted: SubscriptionRequest, state: SubscriptionState): string {
	if (!seen) return `The webhook ${id} was deleted in the CRM Platform. The trigger has subscribed again`;
	if (isMoved(seen, wanted, state)) {
		return `n8n has a new address. The webhook ${id}, which delivered to ${seen.url}, delivers to ${wanted.url}. Events that another program accepted at the old address are not delivered again`;
	}
	const what = seen.status === 'active' ? 'changed' : seen.status;
	return `The webhook ${id} was ${what} in the CRM Platform. The trigger has restored it`;
}

const describeRenewed = (id: string): string =>
	`The deliveries of the webhook ${id} fail, and the CRM Platform does not show whether its secret was replaced. The trigger has replaced the secret`;
