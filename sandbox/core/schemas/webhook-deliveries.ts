import { z } from 'zod/v4';
import { instant, pointInTime } from './fields.ts';
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
	started_at: pointInTime.meta({ title: 'Started At', description: 'Time the attempt began.' }),
	duration_ms: z.int().min(0).meta({ title: 'Duration (Milliseconds)', description: 'Duration of the attempt.' }),
	response_status: z.int().nullable().meta({
		title: 'Response Status',
		description: 'HTTP status of the receiver’s response; null if it did not respond.',
		examples: [200],
	}),
	error: z.string().nullable().meta({ title: 'Error', description: 'Reason for the failure, if any.' }),
});

/** One attempt to deliver an event. */
export type Attempt = z.output<typeof attemptSchema>;

/** A delivery as the API returns it. */
export const deliverySchema = z.object({
	id: z.string().meta({ title: 'ID', description: 'Identifies the delivery.', examples: [exampleId('dlv')] }),
	object: z.literal('delivery').meta({ title: 'Object', description: 'Type of the object.' }),
	webhook_id: z.string().meta({ title: 'Webhook', description: 'The subscription.', examples: [exampleId('whk')] }),
	event_id: z.string().meta({
		title: 'Event',
		description: 'The event; it is the webhook-id of every attempt.',
		examples: [exampleId('evt')],
	}),
	event_type: z.string().meta({ title: 'Event Type', description: 'The type of the event.', examples: ['contact.created'] }),
	status: z.enum(deliveryStatuses).meta({
		title: 'Status',
		description: 'Whether the delivery succeeded, failed permanently, or will be retried.',
		examples: ['succeeded'],
	}),
	next_attempt_at: instant({ title: 'Next Attempt At', description: 'Time of the next attempt; null if none is planned.' }),
	attempts: z.array(attemptSchema).meta({ title: 'Attempts', description: 'All attempts, oldest first.' }),
	created_at: pointInTime.meta({
		title: 'Created At',
		description: 'Time the delivery was queued.',
		examples: ['2025-03-01T09:30:00.000Z'],
	}),
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
	next_attempt_at:
		delivery.nextAttemptAt === null ? null : new Date(delivery.nextAttemptAt).toISOString(),
	attempts: delivery.attempts,
	created_at: new Date(delivery.createdAt).toISOString(),
});

/** The body of a recovery. */
export const recoverSchema = z.strictObject({
	since: pointInTime.meta({
		title: 'Since',
		description: 'Time of the first event to recover; the log goes back 30 days.',
		examples: ['2026-03-01T09:30:00.000Z'],
	}),
});

/** The response to a recovery. */
export const recoveredSchema = z.object({
	recovered: z.int().min(0).meta({
		description: 'The number of queued events. Those of records that the user no longer sees are not sent.',
	}),
}).meta({ id: 'WebhookRecovered', description: 'The result of the recovery.' });
