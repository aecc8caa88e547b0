import { authorityOf, NoRights, rightsOf } from '../../domain/access/authority.ts';
import type { WriteContext } from '../../core/store/write-context.ts';
import { testEvent } from '../../domain/events/delivery-queue.ts';
import { readableWith, typeCondition } from '../../domain/events/event-conditions.ts';
import { type Webhook, webhooks } from '../../core/schemas/webhooks.ts';
import { isIn } from '../../core/store/records/condition.ts';

const eventsAtOnce = 5000;

/**
 * Queues the events that a subscription has missed: those that happened while it was paused, disabled
 * or not created yet, and failed deliveries. Events that it has received, or is about to receive, are
 * skipped.
 *
 * @param since an RFC 3339 instant
 * @returns the number of queued events
 */
export function recover({ store, newId, now }: WriteContext, webhook: Webhook, since: string): number {
	const rights = rightsOf(store.unrestricted, authorityOf(store.unrestricted, webhook));
	if (rights instanceof NoRights) return 0;
	const { events } = rights.store;
	const conditions = [
		...readableWith(rights.scopes),
		{ sql: 'created_at >= ?', values: [since] },
		typeCondition(webhook.events),
		{ sql: `resource <> '${webhooks.name}' OR data ->> '$.object.id' <> ?`, values: [webhook.id] },
		{ sql: 'type <> ?', values: [testEvent] },
		...(webhook.filter ? [isIn('record_id', JSON.stringify(webhook.filter.ids))] : []),
	];
	let recovered = 0;
	let after = 0;
	for (;;) {
		const page = events.sequences([...conditions, { sql: 'sequence > ?', values: [after] }], eventsAtOnce);
		for (const sequence of page) {
			const isQueued = store.unrestricted.deliveries.recover(newId('dlv', now), webhook.id, sequence, now);
			recovered += Number(isQueued);
			after = sequence;
		}
		if (page.length < eventsAtOnce) return recovered;
	}
}
