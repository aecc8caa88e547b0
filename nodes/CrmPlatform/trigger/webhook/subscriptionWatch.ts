import type { ITriggerFunctions, ITriggerResponse } from 'n8n-workflow';

import { connect, type Connection } from '../../api/connection';
import { type Clock, systemClock } from '../../base/clock';
import { asNodeError, isStartedByN8n } from '../reportFailure';
import { maxTimeUnstored, triggerKey } from '../storedState';
import { storeOnly } from '../unwritable';
import { deliveredUntil, describeGap, recoverEvents, recoverHours } from './backlog';
import { inactive } from './lifecycle';
import { tolerance } from './signature';
import {
	findSubscription, type FoundSubscription, isMoved, matchesRequest, openSubscription, readSubscription, serialized, storeSubscription, type Subscription, type SubscriptionRequest, type SubscriptionState,
} from './subscription';

/** Milliseconds between two checks of the subscription, before the first check after a start, and after a failure. */
const interval = 10 * 60_000;
const startDelay = 5_000;
const retryDelay = 60_000;

/** Number of consecutive failed checks before the user is notified; an outage of the service loses nothing. */
const maxFailures = 5;

/** The watch of each trigger of this process. */
const watches = new Map<string, SubscriptionWatch>();

/**
 * Regularly checks that the subscription of a published workflow exists, is active and matches the workflow. A
 * subscription that somebody has deleted, disabled or changed is restored, and missed events are recovered, including
 * events missed while n8n was down, since n8n calls this at each start.
 */
export function watchSubscription(n8n: ITriggerFunctions, clock = systemClock): ITriggerResponse {
	const watch = new SubscriptionWatch(n8n, clock);
	const name = triggerKey(n8n);
	// n8n may not have closed the previous watch.
	watches.get(name)?.close();
	watches.set(name, watch);
	void watch.run();
	return {
		closeFunction: async () => {
			watch.close();
			if (watches.get(name) === watch) watches.delete(name);
		},
	};
}

class SubscriptionWatch {
	private readonly n8n: ITriggerFunctions;
	private readonly clock: Clock;
	/** How far back missed events are recovered; undefined if the user turned recovery off. */
	private readonly hours: number | undefined;
	private readonly closing = new AbortController();
	/** Whether all missed events have been recovered. */
	private isWell: boolean;
	/** Whether n8n has started since the subscription was last checked. */
	private isAfterStart: boolean;
	/** Milliseconds until the next check. */
	private wait: number;
	/** The problem the user was last notified of. */
	private reported = '';
	private failures = 0;
	/** When n8n last stored the state (Unix epoch ms). */
	private storedAt: number;

	constructor(n8n: ITriggerFunctions, clock: Clock) {
		this.n8n = n8n;
		this.clock = clock;
		this.hours = recoverHours(n8n);
		this.isAfterStart = isStartedByN8n(n8n);
		this.isWell = !this.isAfterStart;
		this.wait = this.isAfterStart ? startDelay : interval;
		this.storedAt = clock.now();
	}

	close(): void {
		this.closing.abort();
	}

	async run(): Promise<void> {
		const { n8n, clock, closing: { signal } } = this;
		while (!signal.aborted) {
			await clock.sleep(this.wait, signal).catch(() => undefined);
			try {
				this.wait = interval;
				await serialized(n8n, async () => await this.check());
				this.failures = 0;
			} catch (error) {
				this.failures += 1;
				this.warn((error as Error).message);
				if (this.failures === maxFailures) this.report(error);
				this.wait = this.failures < maxFailures ? retryDelay : interval;
			}
		}
	}

	private async check(): Promise<void> {
		const state = readSubscription(this.n8n);
		const { id, url, events } = state;
		// The workflow is not published, or its publish has failed.
		if (this.closing.signal.aborted || id === undefined || url === undefined || events === undefined) return;
		const api = await connect(this.n8n, this.clock);
		const found = await findSubscription(api, id);
		const ahead = found ? (this.clock.now() - found.now) / 1_000 : 0;
		if (Math.abs(ahead) > tolerance) return this.report(wrongClock(ahead));
		const subscription = found?.subscription;
		const fails = subscription !== undefined && subscription.failing_since !== null;
		const request = { url, events };
		if (found && matchesRequest(found.subscription, request, state)) {
			await this.catchUp(api, found, request, state, fails);
		} else {
			await this.restore(api, request, state, describeRestored(id, subscription, request, state));
		}
	}

	/** @param restored what to tell the user about the restoration */
	private async restore(
		api: Connection,
		request: SubscriptionRequest,
		state: SubscriptionState,
		restored: string,
	): Promise<void> {
		const { n8n } = this;
		this.isWell = false;
		const opened = await openSubscription(n8n, api, request, state);
		if (opened.subscription.status !== 'active') {
			// The subscription may have been moved to n8n's new address.
			if (opened.state.deliversTo !== state.deliversTo) this.store(opened.state, true);
			this.report(inactive(n8n, opened.subscription));
			return;
		}
		this.warn(restored);
		// The state is stored before the recovery, which is repeated if it fails.
		this.store(opened.state, true);
		const gap = await recoverEvents(api, opened.state, this.hours);
		if (gap) this.report(new Error(`${restored}. ${describeGap(gap)}`));
		storeSubscription(n8n, { ...opened.state, changed: opened.subscription.updated_at });
		this.isWell = true;
	}

	/** Recovers missed events of a subscription that matches the workflow, and notes until when it has delivered all events. */
	private async catchUp(
		api: Connection,
		found: FoundSubscription,
		{ url }: SubscriptionRequest,
		state: SubscriptionState,
		fails: boolean,
	): Promise<void> {
		const { updated_at: changed } = found.subscription;
		// Since the last check, the subscription may have been paused or changed to other events.
		const isChanged = changed !== state.changed;
		// The service may wait hours before it retries deliveries that failed while n8n was down.
		const isDue = isChanged || this.isAfterStart || (!this.isWell && !fails);
		const gap = isDue ? await recoverEvents(api, state, this.hours) : undefined;
		this.isAfterStart = false;
		// Pending deliveries include those just recovered.
		const until = await deliveredUntil(api, found, { ...state, changed, deliversTo: url });
		if (fails) {
			// Other processes may have an older secret, if something has reset the static data.
			this.store({ ...state, changed }, this.isWell || this.clock.now() - this.storedAt >= interval);
			this.wait = retryDelay;
		} else {
			this.reported = '';
			this.store({ ...state, deliveredUntil: until, changed, deliversTo: url }, state.deliversTo !== url);
		}
		this.isWell = !fails;
		const isMissing = gap && gap.before !== Infinity && (isChanged || Date.parse(until) < gap.before);
		if (isMissing) this.report(new Error(describeGap(gap)));
	}

	private store(state: SubscriptionState, isUrgent: boolean): void {
		storeSubscription(this.n8n, state);
		if (!isUrgent && this.clock.now() - this.storedAt < maxTimeUnstored) return;
		this.storedAt = this.clock.now();
		storeOnly(this.n8n);
	}

	/** Reports each problem once: as a failed execution, which starts the error workflow. */
	private report(error: unknown): void {
		const nodeError = asNodeError(this.n8n, error);
		if (this.reported !== nodeError.message) this.n8n.saveFailedExecution(nodeError);
		this.reported = nodeError.message;
	}

	private warn(message: string): void {
		this.n8n.logger.warn(`${this.n8n.getNode().name}: ${message}`);
	}
}

function describeRestored(id: string, subscription: Subscription | undefined, request: SubscriptionRequest, state: SubscriptionState): string {
	if (!subscription) return `The webhook ${id} was deleted in the CRM. The trigger has subscribed again`;
	if (isMoved(subscription, request, state)) {
		return `n8n has a new URL. The webhook ${id} now delivers to ${request.url} instead of ${subscription.url}. Events that another program accepted at the old URL are not delivered again`;
	}
	const change = subscription.status === 'active' ? 'changed' : subscription.status;
	return `The webhook ${id} was ${change} in the CRM. The trigger has restored it`;
}

function wrongClock(ahead: number): Error {
	const difference = `${Math.round(Math.abs(ahead) / 60)} minutes ${ahead > 0 ? 'ahead of' : 'behind'}`;
	return new Error(`The clock of n8n is ${difference} the CRM’s, so every delivery is refused. Correct the clock that is wrong: the refused events are then delivered again.`);
}
