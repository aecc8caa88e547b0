import type { Writing } from '../collection/writing.ts';
import { readableWith, typeCondition } from '../events/routes.ts';
import { type Webhook, webhooks } from '../schemas/webhooks.ts';

const eventsAtOnce = 500;

/**
 * Queues what a subscription has not got: events that happened while it was paused, disabled or not
 * there yet, and deliveries that were given up. What it has got, or is about to get, is left alone.
 *
 * @param since an RFC 3339 instant
 * @returns how many events are on their way now
 */
export function recover({ store, newId, now }: Writing, webhook: Webhook, since: string): number {
	const { events } = store.whole.seenBy(webhook.created_by);
	const grant = store.whole.webhookGrants.find(webhook.id);
	const wanted = [
		...readableWith(grant?.scopes),
		{ sql: 'created_at >= ?', values: [since] },
		typeCondition(webhook.events),
		{ sql: `resource <> '${webhooks.name}' OR data ->> '$.object.id' <> ?`, values: [webhook.id] },
		{ sql: "type <> 'webhook.test'", values: [] },
	];
	let recovered = 0;
	let after = 0;
	for (;;) {
		const page = events.page([...wanted, { sql: 'sequence > ?', values: [after] }], eventsAtOnce);
		for (const { sequence } of page) {
			const isNews = store.deliveries.recover(newId('dlv', now), webhook.id, sequence, now);
			recovered += Number(isNews);
			after = sequence;
		}
		if (page.length < eventsAtOnce) return recovered;
	}
}
