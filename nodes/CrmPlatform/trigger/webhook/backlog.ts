import { NodeApiError, type IDataObject } from 'n8n-workflow';

import type { Connection } from '../../api/connection';
import { undefinedIfGone } from '../../api/find';
import { path } from '../../api/http/path';
import { readPages } from '../../api/lists/pages';
import { isTest, type SubscriptionPlace, type TriggerFunctions } from './place';
import { isAddress, newKeyFor, subscriptionPath, type FoundSubscription, type Subscription } from './subscription';

/**
 * Milliseconds before an instant that are recovered as well: a service may show events late, or answer
 * from a replica that is some seconds behind. What has arrived in them comes again; `DeliveryMemory`
 * drops it as long as n8n is not restarted.
 */
const recoveryOverlap = 60_000;

/** Events that are read for the time at which the oldest of them happened. */
const mostRead = 10;

/** How far back missed events are recovered, in hours; undefined if the user turned recovery off. */
export function recoverHours(n8n: TriggerFunctions): number | undefined {
	if (isTest(n8n) || !(n8n.getNodeParameter('recover', true) as boolean)) return undefined;
	return Number(n8n.getNodeParameter('recoverHours', 24));
}

/**
 * The instant (RFC 3339) up to which a subscription has delivered all events of this trigger.
 *
 * @param now the service's time when the subscription was read (Unix epoch ms)
 */
export async function deliveredUntil(
	api: Connection,
	{ own, now }: FoundSubscription,
	{ deliveredUntil: known, url }: SubscriptionPlace,
): Promise<string> {
	// Read before the deliveries: an event that happens in between counts as not delivered.
	const end = own.status === 'active' ? now : Date.parse(own.failing_since ?? own.updated_at);
	// Earlier events are not this trigger's, and a recovered event is queued later than it happened.
	const begin = known ?? own.created_at;
	// What another address has accepted has not been delivered here.
	if (url !== undefined && !isAddress(own.url, url)) return begin;
	const oldest = await oldestUndelivered(api, own);
	if (oldest === 'unknown') return begin;
	return new Date(Math.max(Math.min(end, oldest) - recoveryOverlap, Date.parse(begin))).toISOString();
}

/** Has the service deliver what it has not delivered since the place, up to that many hours ago. */
export async function recoverEvents(
	api: Connection,
	{ id, deliveredUntil: since }: SubscriptionPlace,
	hours: number | undefined,
): Promise<void> {
	if (id === undefined || since === undefined || hours === undefined) return;
	const recover = (await api.describe('/webhooks'))?.actions.recover;
	if (!recover) return;
	const oldest = Date.now() - hours * 3_600_000;
	const body = { since: Date.parse(since) < oldest ? new Date(oldest).toISOString() : since };
	await api.send({ method: 'POST', path: `${subscriptionPath(id)}/recover`, body, ...newKeyFor(recover) });
}

/**
 * When the oldest event happened (Unix epoch ms) whose delivery is pending or has failed; Infinity if none
 * has. Unknown where they are many, or the service contradicts itself, as a replica may.
 */
async function oldestUndelivered(api: Connection, own: Subscription): Promise<number | 'unknown'> {
	return await readOldest(api, own).catch((error: unknown) => {
		if (error instanceof NodeApiError) throw error;
		return 'unknown';
	});
}

async function readOldest(api: Connection, { id }: Subscription): Promise<number | 'unknown'> {
	const list = (await api.describe('/webhooks/{id}/deliveries'))?.list;
	if (!list) return Infinity;
	const query = { status: ['pending', 'failed'] };
	const isEvent = ({ event_type: type }: IDataObject) => type !== 'webhook.test';
	let oldest = Infinity;
	let read = 0;
	for await (const { records } of readPages(api.send, { path: `${subscriptionPath(id)}/deliveries`, list, query })) {
		for (const { event_id: event } of records.filter(isEvent)) {
			// A delivery that is recovered was queued later than its event happened.
			const happened = read++ < mostRead && typeof event === 'string' ? await timeOf(api, event) : NaN;
			if (Number.isNaN(happened)) return 'unknown';
			oldest = Math.min(oldest, happened);
		}
	}
	return oldest;
}

/** NaN if the service does not tell when the event happened. */
async function timeOf(api: Connection, event: string): Promise<number> {
	const found = await undefinedIfGone(api.send({ method: 'GET', path: path`/v1/events/${event}` }));
	return Date.parse(String((found?.body as IDataObject | undefined)?.timestamp));
}
