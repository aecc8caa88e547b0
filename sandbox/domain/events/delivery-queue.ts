import type { WriteContext } from '../../core/store/write-context.ts';
import { covers } from './event-types.ts';
import { authorityOf, NoRights, type Rights, rightsOf } from '../access/authority.ts';
import { scopeOf } from '../access/scopes.ts';
import { type Webhook, webhooks } from '../../core/schemas/webhooks.ts';
import { isInAudience } from '../../core/store/log/audience.ts';
import { equals } from '../../core/store/records/condition.ts';
import type { StoredEvent } from '../../core/store/log/event-reader.ts';
import type { Store } from '../../core/store/store.ts';
import { applicationResources } from '../../core/store/visibility/visibility.ts';
import type { StoreView } from '../../core/store/visibility/visible-store.ts';

/**
 * Queues an event for every active subscription that matches it and may read it. A subscription
 * receives no events about itself; otherwise its own activation would be its first event.
 */
export function queueDeliveries(context: WriteContext, event: StoredEvent): void {
	const { store, newId, now } = context;
	for (const webhook of activeWebhooks(store)) {
		if (webhook.id === event.recordId || !isAbout(webhook, event) || !wants(store, webhook, event)) continue;
		store.unrestricted.deliveries.add(newId('dlv', now), webhook.id, event.sequence, now, now);
	}
}

/** Whether an event is about one of the records that a subscription is restricted to, if it is restricted. */
const isAbout = ({ filter }: Webhook, { recordId }: StoredEvent): boolean => filter?.ids.includes(recordId) ?? true;

/** No pattern matches a test event. */
export const testEvent = `${webhooks.object}.test`;

export function activeWebhooks({ unrestricted }: StoreView): Webhook[] {
	const table = unrestricted.table(webhooks.name)!;
	return table.cached('active', () => table.findAll([equals('status', 'active')]) as Webhook[]);
}

/**
 * Whether a subscription matches an event and may read it: one made with an access token receives only
 * what the token's user can see, for the scopes granted.
 */
function wants(store: StoreView, webhook: Webhook, event: StoredEvent): boolean {
	const { events, created_by: by } = webhook;
	if (!events.some((pattern) => covers(pattern, event.type))) return false;
	if (rightsToRead(store.unrestricted, webhook, event) instanceof NoRights) return false;
	if (applicationResources.includes(event.resource) && !seesRecordOf(store.unrestricted, webhook, event)) return false;
	return store.unrestricted.seesAll(by) ? event.isForAccount : isInAudience(event.audience, by.id);
}

/**
 * Explains why an event may no longer be sent to a subscription, although it was queued for it;
 * undefined if it may. If a record is no longer visible, only its deletion is still reported.
 */
export function explainRefusal(store: Store, webhook: Webhook, event: StoredEvent): string | undefined {
	const rights = rightsToRead(store, webhook, event);
	if (rights instanceof NoRights) return rights.reason;
	const isWanted = event.type === testEvent || webhook.events.some((pattern) => covers(pattern, event.type));
	if (!isWanted) return `The webhook no longer subscribes to ${event.type}.`;
	if (event.type !== testEvent && !isAbout(webhook, event)) return 'The webhook no longer subscribes to events of this record.';
	const isDeletion = /\.(deleted|erased)$/.test(event.type);
	const isSeen = isDeletion || store.seesAll(webhook.created_by) || seesRecordOf(store, webhook, event);
	return isSeen ? undefined : 'The user who subscribed no longer sees the record.';
}

const rightsToRead = (store: Store, webhook: Webhook, { resource }: StoredEvent): Rights | NoRights =>
	rightsOf(store, authorityOf(store, webhook), scopeOf(resource, 'read'));

function seesRecordOf(store: Store, webhook: Webhook, { resource, recordId }: StoredEvent): boolean {
	const rights = rightsOf(store, authorityOf(store, webhook));
	if (rights instanceof NoRights) return false;
	return rights.store.table(resource)?.sees(recordId) === true;
}
