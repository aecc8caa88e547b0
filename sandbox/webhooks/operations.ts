import { createOperation } from '../collection/operations.ts';
import { idempotencyKeyParameter } from '../description/parameters.ts';
import { requestBody } from '../description/schemas.ts';
import { errors, success, writeErrors } from '../description/responses.ts';
import type { Operation } from '../http/operation.ts';
import { webhooks } from '../schemas/webhooks.ts';

export const webhookTags = [webhooks.name];

export function createWebhookOperation(): Operation {
	const operation = createOperation(webhooks);
	return {
		...operation,
		description:
			'Subscribes an address to events. Only this response contains the secret. With an access ' +
			'token, only events of records that its user can see are sent, and the token needs the ' +
			'read scope of every resource that the events are about.',
		responses: {
			...operation.responses,
			201: success(
				'The new webhook with its secret.',
				'WebhookWithSecret',
				'ETag',
				'Location',
				'Idempotent-Replayed',
			),
		},
		};
}

export const rotateSecretOperation = (): Operation => ({
	operationId: 'rotateWebhookSecret',
	tags: webhookTags,
	summary: 'Rotate the secret of a webhook',
	description: 'Generates a new secret. For 24 hours, the previous secret signs as well.',
	parameters: [idempotencyKeyParameter],
	responses: {
		200: success('The webhook with its secret.', 'WebhookWithSecret', 'ETag'),
		...errors(400, 404, 409, 422),
	},
});

export const recoverOperation = (): Operation => ({
	operationId: 'recoverWebhook',
	tags: webhookTags,
	summary: 'Recover missed events',
	description:
		'Sends, in sequence, the events since an instant that the webhook has missed: those that ' +
		'happened while it was paused, disabled or not created yet, and failed deliveries, whether ' +
		'or not a retry is due.',
	parameters: [idempotencyKeyParameter],
	requestBody: requestBody('WebhookRecovery'),
	responses: {
		202: success('The number of queued events.', 'WebhookRecovered', 'Idempotent-Replayed'),
		...errors(404, ...writeErrors),
	},
});

export const testOperation = (): Operation => ({
	operationId: 'testWebhook',
	tags: webhookTags,
	summary: 'Test a webhook',
	description:
		'Sends webhook.test once, regardless of the status of the webhook, and returns the outcome.',
	parameters: [idempotencyKeyParameter],
	responses: {
		200: success('The delivery, succeeded or failed.', 'WebhookDelivery', 'Idempotent-Replayed'),
		...errors(400, 404, 409, 422),
	},
});
