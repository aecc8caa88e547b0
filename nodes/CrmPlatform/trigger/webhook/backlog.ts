import type { IDataObject, IHookFunctions, IWebhookFunctions } from 'n8n-workflow';

import type { Connection } from '../../api/connection';
import type { CrmEvent } from '../../api/event';
import { readPages } from '../../api/lists/pages';
import { isTest, type Backlog } from './staticData';
import { subscriptionPath, pauseSubscription, type Subscription } from './subscription';

/** Static data is read with every event: beyond so many, it is not told apart what has arrived. */
const mostMissing = 2_000;

/**
 * Stops a subscription for good, and notes what it leaves undone: since it ends with what it has
 * not delivered yet, the next one has to ask for that, and for that only.
 *
 * @param before what was left undone when it began
 */
export async function stopWithBacklog(
	api: Connection,
	own: Subscription,
	before: Backlog | undefined,
): Promise<Backlog> {
	// Nothing came of it: what was to be asked for still is.
	if (before && !before.asked) return before;
	const stopped = own.status === 'active' ? await pauseSubscription(api, own) : own;
	const until = own.status === 'active' ? stopped.updated_at : (own.failing_since ?? own.updated_at);
	const undelivered = await readUndelivered(api, own);
	if (undelivered.length === 0) return { from: until, until, missing: [], asked: false };
	const times = undelivered.map(({ created_at: at }) => String(at));
	// What was itself asked for is noted as of then, not as of when it happened.
	const from = earliest([until, ...times, ...(before ? [before.from] : [])]);
	const isKnown = undelivered.length <= mostMissing;
	const missing = isKnown ? undelivered.map(({ event_id: id }) => String(id)) : null;
	return { from, until, missing, asked: false };
}

/** The subscriptions for which this process has asked what was missed. */
export const recoveredSubscriptions = new Set<string>();

/** How far back events that were missed are recovered; undefined for not at all. */
export function recoverHours(n8n: IHookFunctions | IWebhookFunctions): number | undefined {
	if (isTest(n8n) || !(n8n.getNodeParameter('recover', true) as boolean)) return undefined;
	return Number(n8n.getNodeParameter('recoverHours', 24));
}

/** Has the service deliver what the subscription has not got since then. */
export async function recoverEvents(api: Connection, id: string, since: string): Promise<void> {
	if (!(await api.describe('/webhooks'))?.actions.recover) return;
	await api.send({ method: 'POST', path: `${subscriptionPath(id)}/recover`, body: { since } });
}

/** Since when to recover, so that nothing older than that comes. */
export function recoveryStart(since: string, hours: number, now: number): string {
	const oldest = new Date(now - hours * 3_600_000).toISOString();
	return latest([since, oldest]);
}

/** Whether the subscription before this one has delivered an event that was recovered with others. */
export function alreadyDelivered({ id, timestamp }: CrmEvent, gap: Backlog | undefined): boolean {
	if (!gap?.missing) return false;
	const [at, from, until] = [timestamp, gap.from, gap.until].map(Date.parse) as [number, number, number];
	return at >= from && at < until && !gap.missing.includes(id);
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

const inOrder = (instants: string[]): string[] =>
	[...instants].sort((one, other) => Date.parse(one) - Date.parse(other));
const earliest = (instants: string[]): string => inOrder(instants)[0]!;
const latest = (instants: string[]): string => inOrder(instants).at(-1)!;
