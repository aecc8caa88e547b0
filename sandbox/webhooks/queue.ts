import type { Writing } from '../collection/writing.ts';
import { covers } from '../events/types.ts';
import { type Webhook, webhooks } from '../schemas/webhooks.ts';
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

/** Those of a user who is no administrator get only what this user may see. */
const wants = (store: Store, { events, created_by: by }: Webhook, event: StoredEvent): boolean =>
	events.some((pattern) => covers(pattern, event.type)) &&
	(['', by.id].includes(event.seenBy) || store.seesAll(by));
