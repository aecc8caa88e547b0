import type { Writing } from '../store/writing.ts';
import { covers } from './types.ts';
import { scopeOf } from '../access/scopes.ts';
import { type Webhook, webhooks } from '../schemas/webhooks.ts';
import { isInAudience } from '../store/audience.ts';
import type { StoredEvent } from '../store/event-reader.ts';
import type { StoreView } from '../store/visible-store.ts';

/**
 * Queues an event for every active subscription that matches it and may read it. A subscription
 * receives no events about itself, or else its own activation would be its first event.
 *
 * @param about the id of the event's record
 */
export function queueDeliveries(writing: Writing, event: StoredEvent, about: string): void {
	const { store, newId, now } = writing;
	for (const webhook of activeWebhooks(store)) {
		if (webhook.id === about || !wants(store, webhook, event)) continue;
		store.whole.deliveries.add(newId('dlv', now), webhook.id, event.sequence, now, now);
	}
}

export function activeWebhooks({ whole }: StoreView): Webhook[] {
	const table = whole.table(webhooks.name)!;
	const isActive = { sql: '"status" = ?', values: ['active'] };
	return table.cached('active', () => table.findAll([isActive], 10_000) as Webhook[]);
}

/**
 * Whether a subscription matches an event and may read it. A subscription made with an access token
 * receives only what the token's user can see, for the scopes granted, and nothing while that user
 * cannot sign in.
 */
function wants(store: StoreView, webhook: Webhook, event: StoredEvent): boolean {
	const { id, events, created_by: by } = webhook;
	if (!events.some((pattern) => covers(pattern, event.type))) return false;
	if (store.whole.seesAll(by)) {
		if (!event.isForAccount) return false;
	} else if (!store.whole.members.find(by.id) || !isInAudience(event.audience, by.id)) {
		return false;
	}
	const grant = store.whole.webhookGrants.find(id);
	return !grant || grant.scopes.includes(scopeOf(event.resource, 'read'));
}
