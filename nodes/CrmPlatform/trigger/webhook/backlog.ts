import type { IDataObject, IHookFunctions, ITriggerFunctions } from 'n8n-workflow';

import type { Connection } from '../../api/connection';
import { path } from '../../api/http/path';
import { readPages } from '../../api/lists/pages';
import { newKeyFor, subscriptionPath } from '../../api/webhookSubscriptions';
import { parseBoolean, parsePositiveNumber } from '../../values/parsers';
import type { TriggerContext } from '../onlyIf';
import {
	type FoundSubscription, isTest, type OpenedSubscription, storeSubscription, type Subscription, type SubscriptionState,
} from './subscription';

/**
 * Overlap (ms) of a recovery: a service may show events late, or answer from a replica that is some seconds
 * behind. Events already delivered in it arrive again; `DeliveryMemory` drops them unless n8n was restarted.
 */
const recoveryOverlap = 60_000;

/** Maximum number of events to read to find the time of the oldest one. */
const maxRead = 10;

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
 */
export async function deliveredUntil(
	api: Connection,
	{ subscription, now }: FoundSubscription,
	{ deliveredUntil: previousUntil, changed, deliversTo }: SubscriptionState,
): Promise<string> {
	// Earlier events do not belong to this trigger, and a recovered event is queued later than it happened.
	const begin = previousUntil ?? subscription.created_at;
	// It is unknown when the subscription was changed. It may have been paused for a while, or subscribed to
	// other events.
	if (subscription.status !== 'active' || subscription.updated_at !== changed) return begin;
	// Events that another address has accepted were not delivered here.
	if (subscription.url !== deliversTo) return begin;
	// If the service does not answer, refuses, or contradicts itself, as a replica may, fewer events count as
	// delivered.
	const oldest = await oldestUndelivered(api, subscription).catch(() => undefined);
	if (oldest === undefined) return begin;
	// `now` was read earlier: later events count as not delivered.
	return new Date(Math.max(Math.min(now, oldest) - recoveryOverlap, Date.parse(begin))).toISOString();
}

/** The events that a recovery leaves out. */
export interface Gap {
	/** The instant before which they happened (Unix epoch ms). */
	before: number;
	reason: string;
}

/**
 * Recovers the events that an opened subscription has missed. Its state has to be stored before: deliveries may arrive
 * immediately, and a recovery that fails is repeated.
 *
 * @returns the events that were left out, if there are any
 */
export async function recoverMissed(
	n8n: IHookFunctions | ITriggerFunctions,
	api: Connection,
	{ state, updatedAt, isFirst }: OpenedSubscription,
	hours: number | undefined,
): Promise<Gap | undefined> {
	const gap = isFirst ? undefined : await recoverEvents(api, state, hours);
	storeSubscription(n8n, { ...state, changed: updatedAt });
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
	if (hours === undefined) return { before: Infinity, reason: 'because Recover Missed Events is off' };
	if (id === undefined || since === undefined) return undefined;
	const recover = (await api.describe('/webhooks'))?.recordActions.recover;
	if (!recover) return { before: Infinity, reason: 'because the CRM does not recover missed events' };
	const oldest = Date.now() - hours * 3_600_000;
	const isTooOld = Date.parse(since) < oldest;
	const begin = isTooOld ? new Date(oldest).toISOString() : since;
	await api.send({ method: 'POST', path: `${subscriptionPath(id)}/recover`, body: { since: begin }, ...newKeyFor(recover) });
	return isTooOld ? { before: oldest, reason: `those before ${begin} are older than Maximum Age` } : undefined;
}

export const describeGap = ({ reason }: Pick<Gap, 'reason'>): string => `Events may be missing, ${reason}. Compare with the CRM`;

/**
 * Finds when the oldest event happened whose delivery is pending or has failed (Unix epoch ms); Infinity if none has.
 *
 * @throws Error if there are too many, or the service does not state it
 */
async function oldestUndelivered(api: Connection, { id }: Subscription): Promise<number> {
	const list = (await api.describe('/webhooks/{id}/deliveries'))?.list;
	if (!list) throw new Error('The API description does not include the deliveries of a webhook.');
	let oldest = Infinity;
	let read = 0;
	const query = { status: ['pending', 'failed'] };
	for await (const { records } of readPages(api.send, { path: `${subscriptionPath(id)}/deliveries`, list, query })) {
		for (const { event_id: event } of records.filter(({ event_type: type }) => type !== 'webhook.test')) {
			if (++read > maxRead) throw new Error('Too many deliveries are pending.');
			// A recovered delivery was queued later than its event happened.
			const { body } = await api.send({ method: 'GET', path: path`/events/${String(event)}` });
			oldest = Math.min(oldest, Date.parse(String((body as IDataObject | undefined)?.timestamp)));
		}
	}
	if (Number.isNaN(oldest)) throw new Error('The time of an event cannot be read.');
	return oldest;
}
