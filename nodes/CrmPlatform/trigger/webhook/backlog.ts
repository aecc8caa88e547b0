import { NodeApiError, type IDataObject } from 'n8n-workflow';
import { z } from 'zod';

import type { Connection } from '../../api/connection';
import { encodedPath } from '../../api/http/path';
import { notFound, refusedSubscription } from '../../api/http/statuses';
import { readPages } from '../../api/lists/pages';
import { isAnsweredWith } from '../../api/refusals';
import { newKeyFor, subscriptionPath } from '../../api/webhookSubscriptions';
import { parseBoolean, parsePositiveNumber } from '../../values/parsers';
import type { PublishContext, TriggerContext } from '../triggerContext';
import {
	type FoundSubscription, isTest, type EnsuredSubscription, storeSubscription, type Subscription, type SubscriptionState,
} from './subscription';

/**
 * Overlap (ms) of a recovery: a service may show events late, or answer from a replica that is some seconds behind.
 * `noteDelivery` recognizes those that arrive again, unless n8n was restarted.
 */
const recoveryOverlap = 60_000;

/** Maximum number of pending deliveries whose events are read, to find the time of the oldest one. */
const maxPending = 10;

/**
 * Reads how many hours back missed events are recovered; undefined if the user turned recovery off.
 *
 * @throws Error in the user's words if a parameter has a value that it does not offer
 */
export function recoverHours(n8n: TriggerContext): number | undefined {
	if (isTest(n8n) || !parseBoolean('Recover Missed Events', n8n.getNodeParameter('recover', true))) return undefined;
	return parsePositiveNumber('Maximum Age (Hours)', n8n.getNodeParameter('recoverHours', 24), { max: 720, unit: 'hours' });
}

/**
 * Finds the instant (RFC 3339) up to which a subscription has delivered all events of this trigger.
 *
 * @param missed what the trigger has not accepted
 */
export async function findDeliveredUntil(
	api: Connection,
	{ subscription, now }: FoundSubscription,
	state: SubscriptionState,
	missed: Delivery[] | undefined,
): Promise<string> {
	// Earlier events do not belong to this trigger, and a recovered event is queued later than it happened.
	const begin = state.deliveredUntil ?? subscription.created_at;
	// It is unknown when it was changed: it may have been paused for a while, or subscribed to other events.
	if (subscription.status !== 'active' || subscription.updated_at !== state.changed) return begin;
	// Events that another address has accepted were not delivered here.
	if (subscription.url !== state.deliversTo) return begin;
	// If the service fails, or contradicts itself, as a replica may, fewer events count as delivered.
	const oldest = missed && (await oldestOf(api, missed).catch(() => undefined));
	if (oldest === undefined) return begin;
	// `now` was read earlier: later events count as not delivered.
	return new Date(Math.max(Math.min(now, oldest) - recoveryOverlap, Date.parse(begin))).toISOString();
}

/** The events that a recovery leaves out. */
export interface Gap {
	/** The instant (RFC 3339) before which they happened; undefined if none is recovered. */
	before?: string;
	reason: string;
}

/**
 * Recovers the events that the subscription has missed. Its state has to be stored before: deliveries may arrive
 * immediately, and a recovery that fails is repeated.
 *
 * @returns the events that were left out, if there are any
 */
export async function recoverMissed(
	n8n: PublishContext,
	api: Connection,
	{ state, updatedAt, isFirst }: EnsuredSubscription,
	hours: number | undefined,
): Promise<Gap | undefined> {
	const gap = isFirst ? undefined : await recoverEvents(api, state, hours);
	storeSubscription(n8n, { ...state, changed: updatedAt, deliveredUntil: gap?.before ?? state.deliveredUntil });
	return gap;
}

/**
 * Has the service deliver the events that it has not delivered since the stored state, up to that many hours ago.
 *
 * @returns the events that were left out, if there are any
 */
export async function recoverEvents(
	api: Connection,
	{ id, deliveredUntil: since }: SubscriptionState,
	hours: number | undefined,
): Promise<Gap | undefined> {
	if (hours === undefined) return { reason: 'because Recover Missed Events is off' };
	if (id === undefined || since === undefined) return undefined;
	const recover = (await api.describe('/webhooks'))?.recordActions.recover;
	if (!recover) return { reason: 'because the CRM does not recover missed events' };
	const oldest = Date.now() - hours * 3_600_000;
	const isTooOld = Date.parse(since) < oldest;
	const begin = isTooOld ? new Date(oldest).toISOString() : since;
	await api.send({ method: 'POST', path: `${subscriptionPath(id)}/recover`, body: { since: begin }, ...newKeyFor(recover) });
	return isTooOld ? { before: begin, reason: `those before ${begin} are older than Maximum Age` } : undefined;
}

export const describeGap = (reason: string): string => `Events may be missing, ${reason}. Compare with the CRM`;

/**
 * How the trigger answers a delivery that it accepts. While n8n starts, it answers every request itself, with 200
 * (abstract-server, n8n 2.41), and the service counts the delivery as succeeded.
 */
export const acceptedStatus = 202;

const id = z.union([z.string(), z.number()]).transform(String);

const deliverySchema = z.object({
	id,
	event_id: id,
	event_type: z.string(),
	created_at: z.string(),
	status: z.string(),
	attempts: z.array(z.object({ response_status: z.number().nullable() })),
});

export type Delivery = z.infer<typeof deliverySchema>;

/**
 * Reads the deliveries since the stored state that the trigger has not accepted, and whether a gateway before n8n answers in
 * its place; undefined if the service does not list them, or in another form.
 *
 * @param recovers whether those that something else has answered, or that have failed, are to be sent again, and not to count as accepted
 */
export async function readUndelivered(
	api: Connection,
	{ id, created_at: created }: Subscription,
	state: SubscriptionState,
	recovers: boolean,
): Promise<{ missed: Delivery[]; hasGateway: boolean } | undefined> {
	const { list, recordActions: { retry = undefined } = {} } = (await api.describe('/webhooks/{id}/deliveries')) ?? {};
	if (!list) return undefined;
	const begin = Date.parse(state.deliveredUntil ?? created);
	const isSince = (delivery: Delivery | undefined) => delivery !== undefined && Date.parse(delivery.created_at) >= begin;
	const deliveries: Delivery[] = [];
	try {
		// Newest first.
		for await (const { records } of readPages(api.send, { path: `${subscriptionPath(id)}/deliveries`, list, query: {} })) {
			deliveries.push(...records.map((record) => deliverySchema.parse(record)));
			if (!isSince(deliveries.at(-1))) break;
		}
	} catch (error) {
		if (error instanceof NodeApiError && !isAnsweredWith(error, ...refusedSubscription)) throw error as Error;
		return undefined;
	}
	// A gateway answers an event that is sent again as before.
	const isAnsweredAgain = deliveries.some(({ attempts }) => attempts.filter(isSuccess).length > 1);
	const hasGateway = !deliveries.some(isAccepted) && (isAnsweredAgain || state.hasGateway === true);
	const isMissed = (delivery: Delivery) => (recovers && retry && !hasGateway ? !isAccepted(delivery) : delivery.status !== 'succeeded' && (recovers || !hasFailed(delivery)));
	const missed = deliveries.filter((delivery) => isSince(delivery) && delivery.event_type !== 'webhook.test' && isMissed(delivery));
	return { missed, hasGateway };
}

const isAccepted = ({ status, attempts }: Delivery): boolean =>
	status === 'succeeded' && attempts.some((attempt) => attempt.response_status === acceptedStatus);

const isSuccess = ({ response_status: status }: Delivery['attempts'][number]): boolean => status !== null && status >= 200 && status < 300;

/** Deliveries that the service has given up: a recovery tries each once more. One that fails again is lost, and then holds up nothing. */
export class GivenUpDeliveries {
	private readonly states = new Map<string, 'failed' | 'tried' | 'failed again' | 'lost'>();

	get needRecovery(): boolean {
		return [...this.states.values()].includes('failed');
	}

	noteRecovery(): void {
		for (const [delivery, state] of this.states) if (state === 'failed') this.states.set(delivery, 'tried');
	}

	/**
	 * @param missed as read after a recovery, if one was due: a replica may still show what it has not tried yet
	 * @param fails whether all deliveries fail at present: a recovery follows
	 * @returns those that are lost from now on
	 */
	note(missed: Delivery[], { isDue, fails }: { isDue: boolean; fails: boolean }): Delivery[] {
		for (const { id: delivery } of missed.filter(hasFailed)) {
			const state = this.states.get(delivery);
			if (state === undefined) this.states.set(delivery, isDue ? 'tried' : 'failed');
			if (state === 'tried' && !isDue) this.states.set(delivery, 'failed again');
		}
		const lost = fails ? [] : missed.filter((delivery) => this.states.get(delivery.id) === 'failed again');
		for (const delivery of lost) this.addLost(delivery);
		return lost;
	}

	addLost({ id: delivery }: Delivery): void {
		this.states.set(delivery, 'lost');
	}

	isLost = ({ id: delivery }: Delivery): boolean => this.states.get(delivery) === 'lost';
}

export const hasFailed = ({ status }: Delivery): boolean => status === 'failed';

/** Has the service send a delivery again. @returns the error if the service refuses that for good */
export async function retryDelivery(api: Connection, { id }: Subscription, delivery: Delivery): Promise<Error | undefined> {
	const retry = (await api.describe('/webhooks/{id}/deliveries'))?.recordActions.retry;
	const path = subscriptionPath(id) + encodedPath`/deliveries/${delivery.id}/retry`;
	return await api.send({ method: 'POST', path, ...newKeyFor(retry) }).then(() => undefined, (error: Error) => {
		if (isAnsweredWith(error, 403, ...notFound)) return error;
		throw error;
	});
}

/** When the oldest of their events happened (Unix epoch ms); Infinity without any. @throws Error if there are too many, or a time is unknown */
async function oldestOf(api: Connection, deliveries: Delivery[]): Promise<number> {
	if (deliveries.length > maxPending) throw new Error('Too many deliveries are pending.');
	let oldest = Infinity;
	for (const { event_id: event } of deliveries) {
		// A recovered delivery was queued later than its event happened.
		const { body } = await api.send({ method: 'GET', path: encodedPath`/events/${event}` });
		oldest = Math.min(oldest, Date.parse(String((body as IDataObject | undefined)?.timestamp)));
	}
	if (Number.isNaN(oldest)) throw new Error('The time of an event cannot be read.');
	return oldest;
}
