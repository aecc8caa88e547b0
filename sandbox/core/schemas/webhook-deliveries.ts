import { z } from 'zod/v4';
import { about, instant, pointInTime } from './fields.ts';
import { exampleId } from './request-examples.ts';

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
