import type { IDataObject, IHookFunctions, IWebhookFunctions } from 'n8n-workflow';

import type { Connection } from '../../api/connection';
import { readPages } from '../../api/lists/pages';
import { isTest } from './staticData';
import { newKeyFor, subscriptionPath, type Subscription } from './subscription';

/**
 * The instant (RFC 3339) from which the successor of a subscription has to recover events: its end or,
 * if deliveries are still pending or have failed, its beginning.
 *
 * What was delivered after that instant is delivered again; `DeliveryMemory` drops it as long as
 * n8n is not restarted.
 *
 * @param since the instant from which this subscription itself recovered events
 */
export async function findBacklogStart(
	api: Connection,
	own: Subscription,
	since: string | undefined,
): Promise<string> {
	// Asked before the deliveries are read: an event that happens in between belongs to the successor.
	const end = own.status === 'active' ? await serviceTime(api, own) : (own.failing_since ?? own.updated_at);
	// Earlier events are not this trigger's, and a recovered event is queued later than it happened.
	const begin = since ?? own.created_at;
	const undelivered = await readUndelivered(api, own);
	return undelivered.length > 0 || Date.parse(end) < Date.parse(begin) ? begin : end;
}

/** Subscriptions for which this process has recovered missed events. */
export const recoveredSubscriptions = new Set<string>();

/** How far back missed events are recovered, in hours; undefined if the user turned recovery off. */
export function recoverHours(n8n: IHookFunctions | IWebhookFunctions): number | undefined {
	if (isTest(n8n) || !(n8n.getNodeParameter('recover', true) as boolean)) return undefined;
	return Number(n8n.getNodeParameter('recoverHours', 24));
}

/** Has the service deliver everything since that instant which it has not delivered. */
export async function recoverEvents(api: Connection, id: string, since: string): Promise<void> {
	const recover = (await api.describe('/webhooks'))?.actions.recover;
	if (!recover) return;
	const path = `${subscriptionPath(id)}/recover`;
	await api.send({ method: 'POST', path, body: { since }, ...newKeyFor(recover) });
}

/** The instant to recover from: `since`, but no more than that many hours ago. */
export function recoveryStart(since: string, hours: number, now: number): string {
	const oldest = now - hours * 3_600_000;
	return Date.parse(since) < oldest ? new Date(oldest).toISOString() : since;
}

/** The service's clock, by the header Date (whole seconds, RFC 9110 section 6.6.1), rounded down. */
async function serviceTime(api: Connection, { id }: Subscription): Promise<string> {
	const { headers } = await api.send({ method: 'GET', path: subscriptionPath(id) });
	const date = Date.parse(headers.date ?? '');
	// Without the header, a minute makes up for the difference between the clocks.
	const now = Number.isNaN(date) ? Date.now() - 60_000 : date - 1_000;
	return new Date(now).toISOString();
}

async function readUndelivered(api: Connection, { id }: Subscription): Promise<IDataObject[]> {
	const list = (await api.describe('/webhooks/{id}/deliveries'))?.list;
	if (!list) return [];
	const found: IDataObject[] = [];
	const query = { status: ['pending', 'failed'] };
	const walk = readPages(api.send, { path: `${subscriptionPath(id)}/deliveries`, list, query });
	for await (const { records } of walk) found.push(...records);
	return found.filter(({ event_type: type }) => type !== 'webhook.test');
}
