import { type ITriggerFunctions, type ITriggerResponse, NodeOperationError } from 'n8n-workflow';

import { connect, type Connection } from '../../api/connection';
import { type Clock, systemClock } from '../../base/clock';
import { listed } from '../../base/lists';
import { RecentMap } from '../../base/maps';
import { asNodeError, isStartedByN8n } from '../triggerContext';
import { maxTimeUnstored, serialized, storeOnly, triggerKey } from '../storedState';
import {
	type Delivery, describeGap, findDeliveredUntil, GivenUpDeliveries, hasFailed, recoverEvents, recoverHours, recoverMissed, readUndelivered,
	retryDelivery,
} from './backlog';
import { tolerance } from './signature';
import {
	findSubscription, forPerson, type FoundSubscription, isMoved, matchesRequest, ensureSubscription, readSubscription, storeSubscription,
	type Subscription, type SubscriptionRequest, type SubscriptionState,
} from './subscription';

/** Milliseconds between two checks of the subscription, before the first check after a start, and after a failure. */
const interval = 10 * 60_000;
const startDelay = 5_000;
const retryDelay = 60_000;

/** Number of consecutive failed checks before the user is notified; an outage of the service loses nothing. */
const maxFailures = 5;

const watches = new RecentMap<string, SubscriptionWatch>(10_000);

/**
 * Regularly checks the subscription of a published workflow: restores one that somebody has deleted, disabled or changed, and recovers missed
 * events, also those missed while n8n was down, since n8n calls this at each start.
 */
export function watchSubscription(n8n: ITriggerFunctions, clock = systemClock): ITriggerResponse {
	const watch = new SubscriptionWatch(n8n, clock);
	const name = triggerKey(n8n);
	// n8n may not have closed the previous watch.
	watches.get(name)?.close();
	watches.set(name, watch);
	void watch.run();
	return { closeFunction: async () => watch.close() };
}

class SubscriptionWatch {
	private readonly n8n: ITriggerFunctions;
	private readonly clock: Clock;
	/** How far back missed events are recovered; undefined if the user turned recovery off. */
	private readonly hours: number | undefined;
	private readonly closing = new AbortController();
	/** When missed events are recovered: after n8n has started immediately, after an outage once deliveries succeed. */
	private recovery: 'now' | 'once it delivers' | 'done';
	/** Milliseconds until the next check. */
	private wait: number;
	/** The problem the user was last notified of. */
	private reported = '';
	private failures = 0;
	private readonly givenUp = new GivenUpDeliveries();
	/** Whether the service lists deliveries, as far as known. */
	private isListed = true;
	/** When n8n last stored the state (Unix epoch ms). */
	private storedAt: number;

	constructor(n8n: ITriggerFunctions, clock: Clock) {
		this.n8n = n8n;
		this.clock = clock;
		this.hours = recoverHours(n8n);
		this.recovery = isStartedByN8n(n8n) ? 'now' : 'done';
		this.wait = isStartedByN8n(n8n) ? startDelay : interval;
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
				const needsPerson = error instanceof NodeOperationError && error.context.needsPerson === true;
				// The CRM has answered: an outage that follows begins anew.
				this.failures = needsPerson ? 0 : this.failures + 1;
				if (!needsPerson) this.warn((error as Error).message);
				if (needsPerson || this.failures === maxFailures) this.report(error);
				this.wait = needsPerson || this.failures >= maxFailures ? interval : retryDelay;
			}
		}
	}

	/** @throws NodeOperationError if a person has to mend something */
	private async check(): Promise<void> {
		const { n8n, clock } = this;
		const state = readSubscription(n8n);
		const { id, url, events } = state;
		// The workflow is not published, or its publish has failed.
		if (this.closing.signal.aborted || id === undefined || url === undefined || events === undefined) return;
		const api = await connect(n8n, clock);
		const found = await findSubscription(api, id);
		const ahead = found ? (clock.now() - found.now) / 1_000 : 0;
		if (Math.abs(ahead) > tolerance) throw forPerson(n8n, wrongClock(ahead));
		const request = { url, events };
		if (found && matchesRequest(found.subscription, request, state)) return await this.catchUp(api, found, url, state);
		await this.restore(api, request, state, describeRestored(id, found?.subscription, request, state));
	}

	/** Subscribes again, or changes the subscription back, and recovers missed events. */
	private async restore(api: Connection, request: SubscriptionRequest, state: SubscriptionState, description: string): Promise<void> {
		this.recovery = 'once it delivers';
		const ensured = await ensureSubscription(this.n8n, api, request, state, this.hours);
		this.warn(description);
		this.store(ensured.state, true);
		const gap = await recoverMissed(this.n8n, api, ensured, this.hours);
		if (gap) {
			this.report(new Error(`${description}. ${describeGap(gap.reason)}`));
			void storeOnly(this.n8n);
		}
		this.recovery = 'done';
	}

	/** Recovers missed events of a subscription that matches the workflow, and notes until when it has delivered all events. */
	private async catchUp(api: Connection, found: FoundSubscription, url: string, state: SubscriptionState): Promise<void> {
		const { updated_at: changed, failing_since: failingSince } = found.subscription;
		const fails = failingSince !== null;
		const { recovery, givenUp } = this;
		// Since the last check, the subscription may have been paused or changed to other events.
		const isChanged = changed !== state.changed;
		// The service may wait hours before it retries deliveries that failed while n8n was down.
		const isDue = isChanged || recovery === 'now' || (recovery === 'once it delivers' && !fails);
		const gap = isDue ? await recoverEvents(api, state, this.hours) : undefined;
		if (isDue) givenUp.noteRecovery();
		// Pending deliveries include those just recovered.
		const undelivered = await readUndelivered(api, found.subscription, state, this.hours !== undefined);
		if (!undelivered) this.warnUnlisted();
		const lost = givenUp.note(undelivered?.missed ?? [], { isDue, fails });
		if (lost.length > 0) this.report(new Error(describeGap(`because the CRM could not deliver ${listed(lost.map((delivery) => delivery.event_id))}`)));
		const missed = undelivered?.missed.filter((delivery) => !givenUp.isLost(delivery));
		await this.retryAnsweredByN8n(api, found.subscription, missed ?? []);
		this.recovery = fails ? 'once it delivers' : givenUp.needRecovery ? 'now' : 'done';
		const matching = { ...state, changed, deliversTo: url };
		const until = await findDeliveredUntil(api, found, matching, missed);
		// The service tries pending deliveries by itself, whatever their age.
		const areLost = async (before: string) =>
			isChanged || (missed && isEarlier(await findDeliveredUntil(api, found, matching, missed.filter(hasFailed)), before));
		const lostBefore = gap?.before !== undefined && (await areLost(gap.before)) ? gap.before : undefined;
		if (gap && lostBefore !== undefined) this.report(new Error(describeGap(gap.reason)));
		const isReported = lost.length > 0 || lostBefore !== undefined;
		if (fails) {
			// Other processes may have an older secret, if something has reset the static data.
			const isUrgent = isReported || recovery === 'done' || this.clock.now() - this.storedAt >= interval;
			this.store({ ...state, changed, deliveredUntil: lostBefore ?? state.deliveredUntil }, isUrgent);
		} else {
			this.reported = '';
			const deliveredUntil = lostBefore !== undefined && isEarlier(until, lostBefore) ? lostBefore : until;
			this.store({ ...matching, deliveredUntil, hasGateway: undelivered?.hasGateway }, isReported || state.deliversTo !== url);
		}
		if (fails || givenUp.needRecovery) this.wait = retryDelay;
	}

	/** Has the service send again what n8n itself has answered, so that the service counts it as delivered. */
	private async retryAnsweredByN8n(api: Connection, subscription: Subscription, missed: Delivery[]): Promise<void> {
		for (const delivery of missed.filter(({ status }) => status === 'succeeded')) {
			const refusal = await retryDelivery(api, subscription, delivery);
			if (!refusal) continue;
			this.givenUp.addLost(delivery);
			this.warn(`The CRM does not send the event ${delivery.event_id} again, which n8n may have missed: ${refusal.message}`);
		}
	}

	private store(state: SubscriptionState, isUrgent: boolean): void {
		storeSubscription(this.n8n, state);
		if (!isUrgent && this.clock.now() - this.storedAt < maxTimeUnstored) return;
		this.storedAt = this.clock.now();
		void storeOnly(this.n8n);
	}

	/** Reports each problem once: as a failed execution, which starts the error workflow. */
	private report(error: unknown): void {
		const nodeError = asNodeError(this.n8n, error);
		if (this.reported !== nodeError.message) this.n8n.saveFailedExecution(nodeError);
		this.reported = nodeError.message;
	}

	private warnUnlisted(): void {
		if (!this.isListed) return;
		this.isListed = false;
		this.warn('The CRM does not list the deliveries of a webhook, so events older than Maximum Age that are missed are not reported');
	}

	private warn(message: string): void {
		this.n8n.logger.warn(`${this.n8n.getNode().name}: ${message}`);
	}
}

const isEarlier = (instant: string, than: string): boolean => Date.parse(instant) < Date.parse(than);

function describeRestored(id: string, subscription: Subscription | undefined, request: SubscriptionRequest, state: SubscriptionState): string {
	if (!subscription) return `The webhook ${id} was deleted in the CRM. The trigger has subscribed again`;
	if (isMoved(subscription, request, state)) {
		return `n8n has a new URL. The webhook ${id} now delivers to ${request.url} instead of ${subscription.url}. Events that another n8n accepted at the old URL are not delivered again`;
	}
	const change = subscription.status === 'active' ? 'changed' : subscription.status;
	return `The webhook ${id} was ${change} in the CRM. The trigger has restored it`;
}

function wrongClock(ahead: number): string {
	const difference = `${Math.round(Math.abs(ahead) / 60)} minutes ${ahead > 0 ? 'ahead of' : 'behind'}`;
	return `The clock of n8n is ${difference} the CRM’s, so every delivery is refused. Correct the clock that is wrong: the refused events are then delivered again.`;
}
