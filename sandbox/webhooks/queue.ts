import type { Writing } from '../collection/writing.ts';
import { covers } from '../events/types.ts';
import { scopeOf } from '../oauth/scopes.ts';
import { type Webhook, webhooks } from '../schemas/webhooks.ts';
import { hears } from '../store/audience.ts';
import type { StoredEvent } from '../store/events.ts';
import type { Store } from '../store/store.ts';

/**
 * Queues an event for every subscription that is active, wants it, and may have it. None is told
 * about itself: activating one would otherwise be the first event it gets.
 *
 * @param about id of the record
 */
export function queueDeliveries(writing: Writing, event: StoredEvent, about: string): void {
	const { store, newId, now } = writing;
	for (const webhook of activeWebhooks(store)) {
		if (webhook.id === about || !wants(store, webhook, event)) continue;
		store.deliveries.add(newId('dlv', now), webhook.id, event.sequence, now, now);
	}
}

export function activeWebhooks({ whole }: Store): Webhook[] {
	const table = whole.table(webhooks.name)!;
	const isActive = { sql: '"status" = ?', values: ['active'] };
	return table.remember('active', () => table.findAll([isActive], 10_000) as Webhook[]);
}

/**
 * Those made with an access token get only what its user sees, of resources that it may read; and
 * nothing at all while the user cannot sign in.
 */
function wants(store: Store, webhook: Webhook, event: StoredEvent): boolean {
	const { id, events, created_by: by } = webhook;
	if (!events.some((pattern) => covers(pattern, event.type))) return false;
	if (store.seesAll(by)) {
		if (!event.isForAccount) return false;
	} else if (!store.whole.members.find(by.id) || !hears(event.audience, by.id)) {
		return false;
	}
	const grant = store.whole.webhookGrants.find(id);
	return !grant || grant.scopes.includes(scopeOf(event.resource, 'read'));
}
