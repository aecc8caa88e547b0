import { z } from 'zod/v4';
import { about, choiceOr, instant, optional, readOnly, text, webAddress, pointInTime } from './fields.ts';
import { applicationId, systemFields } from './record.ts';
import { defineResource, entersStatus, type RecordOf } from './resource.ts';
import { exampleId } from './request-examples.ts';

/** Why the service disabled a subscription: too long without success, or a 410 from the receiver. */
const disabledReasons = ['failures', 'gone'] as const;

const fields = {
	url: webAddress.meta(about('Web address that events are posted to.', 'https://n8n.example/webhook/6f1c1b8e')),
	events: z.array(z.string().min(1).max(100)).min(1).max(100).meta(
		about('Types of events, or patterns: contact.* for all events of contacts, * for all events.', ['contact.created', 'deal.*']),
	),
	description: text(about('Purpose of the subscription.', 'Workflow: welcome new contacts')),
	filter: optional(
		z.strictObject({
			ids: z.array(z.string().min(1).max(64)).min(1).max(500).meta(
				about('IDs of the records whose events are sent.', ['con_01hz3cqq00zvx2m4h6k8r9t1w3'], { title: 'Record IDs' }),
			),
		}),
		about('Restricts the webhook to events of some records.'),
	),
	expires_at: instant(about('Time at which the webhook is deleted; never if absent. Change it to renew the webhook.')),
	status: choiceOr(
		'active', ['active', 'paused', 'disabled'],
		about('Whether events are sent. Set a disabled webhook to active to resume it.', 'active'),
	),
	disabled_reason: z.enum(disabledReasons).nullable().meta(
		readOnly('Reason it was disabled: 5 days without success, or a response with status 410.'),
	),
	secret_hint: z.string().meta(readOnly('The last characters of the secret.', 'k9Q=')),
	application_id: applicationId,
	failing_since: instant(readOnly('Time of the first failed delivery since the last success; null if there is none.')),
	last_success_at: instant(readOnly('Time of the last successful delivery. Deliveries do not change the version.')),
	...systemFields('webhook'),
};

export const webhooks = defineResource({
	name: 'webhooks',
	object: 'webhook',
	idPrefix: 'whk',
	description: 'Subscriptions to events, which are posted to a URL.',
	visibility: 'application',
	fields,
	important: ['url', 'events', 'description', 'status'],
	unique: {},
	sortable: ['last_success_at'],
	searched: ['url', 'description'],
	lookups: ['status', 'url', 'expires_at'],

	events: {
		disabled: entersStatus('disabled', 'A webhook was disabled by the service.'),
		test: { description: 'A test event that you requested. It is sent to one webhook only.' },
	},

	complete: (webhook, previous) => ({
		disabled_reason: webhook.status === 'disabled' ? webhook.disabled_reason : null,
		// Reactivating a subscription clears its failures.
		failing_since: previous?.status !== 'active' && webhook.status === 'active' ? null : webhook.failing_since,
	}),

	check(webhook, previous, { at }) {
		const refuse = (pointer: string, detail: string) => [{ pointer, code: 'invalid_value', detail }];
		if (webhook.status === 'disabled' && !webhook.disabled_reason) {
			return refuse('/status', 'Only the service disables a subscription. You can pause it.');
		}
		const { expires_at: end } = webhook;
		const isPast = end !== null && end !== previous?.expires_at && end <= at;
		return isPast ? refuse('/expires_at', 'Expected a time in the future.') : [];
	},
});

export type Webhook = RecordOf<typeof fields>;

export const deliveryStatuses = ['pending', 'succeeded', 'failed'] as const;

/** The delivery of an event to a subscription. Times are in milliseconds since 1970. */
export interface Delivery {
	id: string;
	webhookId: string;
	/** The sequence number of the event. */
	sequence: number;
	eventId: string;
	eventType: string;
	status: (typeof deliveryStatuses)[number];
	/** Whether it is part of a recovery, whose deliveries are sent one at a time to arrive in sequence. */
	isRecovered: boolean;
	/** Null if no further attempt is due. */
	nextAttemptAt: number | null;
	createdAt: number;
	attempts: Attempt[];
}

const attemptSchema = z.object({
	started_at: pointInTime.meta(about('Time the attempt began.')),
	duration_ms: z.int().min(0).meta(about('Duration of the attempt.', undefined, { title: 'Duration (Milliseconds)' })),
	response_status: z.int().nullable().meta(about('HTTP status of the receiver’s response; null if it did not respond.', 200)),
	error: z.string().nullable().meta(about('Reason for the failure, if any.')),
});

/** One attempt to deliver an event. */
export type Attempt = z.output<typeof attemptSchema>;

/** A delivery as the API returns it. */
export const deliverySchema = z.object({
	id: z.string().meta(about('Identifies the delivery.', exampleId('dlv'))),
	object: z.literal('delivery').meta(about('Type of the object.')),
	webhook_id: z.string().meta(about('The subscription.', exampleId('whk'))),
	event_id: z.string().meta(about('The event; it is the webhook-id of every attempt.', exampleId('evt'))),
	event_type: z.string().meta(about('The type of the event.', 'contact.created')),
	status: z.enum(deliveryStatuses).meta(about('Whether the delivery succeeded, failed permanently, or will be retried.', 'succeeded')),
	next_attempt_at: instant(about('Time of the next attempt; null if none is planned.')),
	attempts: z.array(attemptSchema).meta(about('All attempts, oldest first.')),
	created_at: pointInTime.meta(about('Time the delivery was queued.', '2025-03-01T09:30:00.000Z')),
	// A token that may not read deliveries gets only the id, as with records.
}).meta({ id: 'WebhookDelivery', description: 'The delivery of an event to a webhook.', required: ['id'] });

/** Converts a delivery to the form that the API returns. */
export const deliveryJson = (delivery: Delivery): z.output<typeof deliverySchema> => ({
	id: delivery.id,
	object: 'delivery',
	webhook_id: delivery.webhookId,
	event_id: delivery.eventId,
	event_type: delivery.eventType,
	status: delivery.status,
	next_attempt_at: delivery.nextAttemptAt === null ? null : new Date(delivery.nextAttemptAt).toISOString(),
	attempts: delivery.attempts,
	created_at: new Date(delivery.createdAt).toISOString(),
});

/** The body of a recovery. */
export const recoverSchema = z.strictObject({
	since: pointInTime.meta(about('Time of the first event to recover; the log goes back 30 days.', '2026-03-01T09:30:00.000Z')),
});

/** The response to a recovery. */
export const recoveredSchema = z.object({
	recovered: z.int().min(0).meta({
		description: 'The number of queued events. Those of records that the user no longer sees are not sent.',
	}),
}).meta({ id: 'WebhookRecovered', description: 'The result of the recovery.' });
