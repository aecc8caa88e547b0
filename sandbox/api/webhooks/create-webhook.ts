import { validationFailed } from '../../core/foundation/problem.ts';
import { explainPattern, eventTypesIn } from '../../domain/events/event-types.ts';
import type { ResponseData } from '../../core/foundation/response-data.ts';
import { createRecord } from '../../domain/records/write.ts';
import type { Webhook } from '../../core/schemas/webhooks.ts';
import type { Store } from '../../core/store/store.ts';
import { newWebhookSecret } from '../../core/store/credentials/webhook-secrets.ts';
import type { WriteContext } from '../../core/store/write-context.ts';

/**
 * Creates a subscription with a new secret.
 *
 * @param application the application that it belongs to; null if a user in the console or an API key creates it
 * @throws Problem validation_failed
 */
export function createWebhook(
	context: WriteContext,
	body: Record<string, unknown>,
	application: string | null,
): { response: ResponseData; webhook: Webhook; secret: string } {
	const secret = newWebhookSecret();
	const response = createRecord(context, body, { secret_hint: hintOf(secret), application_id: application });
	const webhook = JSON.parse(response.body!) as Webhook;
	const { unrestricted } = context.store;
	refuseUnknownEvents(unrestricted, webhook.events);
	unrestricted.webhookSecrets.set(webhook.id, secret, context.now);
	return { response: { ...response, body: JSON.stringify({ ...webhook, secret }) }, webhook, secret };
}

export const hintOf = (secret: string): string => secret.slice(-4);

/**
 * @param stored the events before the change, which are accepted even if their custom objects no longer exist
 * @throws Problem validation_failed
 */
export function refuseUnknownEvents(store: Store, events: string[], stored: string[] = []): void {
	const eventTypes = eventTypesIn(store);
	const errors = events.flatMap((pattern, i) => {
		const detail = stored.includes(pattern) ? undefined : explainPattern(pattern, eventTypes);
		return detail === undefined ? [] : [{ pointer: `/events/${i}`, code: 'invalid_value', detail }];
	});
	if (errors.length > 0) throw validationFailed(errors);
}
